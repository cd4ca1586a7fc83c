/** Whether only this machine can reach the host, which may be an IPv6 address in brackets, as in a URL. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || /^(::1|\[::1\])$/.test(host) || /^127(\.\d{1,3}){3}$/.test(host);
}
