/** Whether only this machine can reach the host: a name or an address, IPv6 also in brackets as in a URL. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || /^(::1|\[::1\])$/.test(host) || /^127(\.\d{1,3}){3}$/.test(host);
}
