/** The Sentinels of a URL, and the name of the primary that they monitor. */
export interface Sentinels {
  readonly urls: readonly string[];
  /** The name of the primary in the configuration of Sentinel. */
  readonly name: string;
  readonly primaryURL: (host: string, port: string) => string;
}

const urlPattern = /^(rediss?)\+sentinel:\/\/([^@/?#]*@)?([^@/?#]+)\/([\w.-]+)(\/\d*)?$/;
const hostPattern = /^(?:[^:[\]\s]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/;
const defaultPort = '26379';

/**
 * Parses a URL such as redis+sentinel://user:PASS@first:26379,second:26379/NAME or …/NAME/0. User and password are
 * those of the Redis servers. Returns undefined for any other text.
 */
export function sentinelsOf(url: string): Sentinels | undefined {
  const [, scheme = '', userinfo = '', hosts = '', name = '', database = ''] = urlPattern.exec(url) ?? [];
  const addresses = hosts.split(',');
  if (!addresses.every((address) => hostPattern.test(address))) return undefined;
  const urls = addresses.map(
    (address) => `${scheme}://${/:\d+$/.test(address) ? address : `${address}:${defaultPort}`}`,
  );
  const primaryURL = (host: string, port: string) =>
    `${scheme}://${userinfo}${host.includes(':') ? `[${host}]` : host}:${port}${database}`;
  if (![...urls, primaryURL('127.0.0.1', '1')].every((text) => URL.canParse(text))) return undefined;
  return { urls, name, primaryURL };
}
