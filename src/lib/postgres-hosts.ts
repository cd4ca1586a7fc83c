const multiHost = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s;

/**
 * Splits a URL that names several hosts, as libpq accepts it, into one URL per host, which the driver accepts.
 *
 * @param url - such as postgres://user:PASS@first:5432,second:5432/database
 */
export function urlsOfHosts(url: string): readonly string[] {
  const [, before = '', hosts, after = ''] = multiHost.exec(url) ?? [];
  return hosts === undefined ? [url] : hosts.split(',').map((host) => `${before}${host}${after}`);
}
