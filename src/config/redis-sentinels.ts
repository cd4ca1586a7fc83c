/** The Sentinels of a URL, and the name of the primary that they monitor. */
export interface Sentinels {
  readonly urls: readonly string[];
  /** The name of the primary in the configuration of Sentinel. */
  readonly name: string;
  readonly primaryURL: (host: string, port: string) => string;
}

const form = /^(rediss?)\+sentinel:\/\/([^@/?#]*@)?([^@/?#]+)\/([\w.-]+)(\/\d*)?$/;
const host = /^(?:[^:[\]\s]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/;
const defaultPort = '26379';

/**
 * Parses a URL such as redis+sentinel://user:PASS@first:26379,second:26379/NAME or …/NAME/0. User and password are
 * those of the Redis servers. Returns undefined for any other text.
 */
export function sentinelsOf(url: string): Sentinels | undefined {
  const [, scheme = '', userinfo = '', hosts = '', name = '', database = ''] = form.exec(url) ?? [];
  const all = hosts.split(',');
  if (!all.every((one) => host.test(one))) return undefined;
  const urls = all.map((one) => `${scheme}://${/:\d+$/.test(one) ? one : `${one}:${defaultPort}`}`);
  const primaryURL = (address: string, port: string) =>
    `${scheme}://${userinfo}${address.includes(':') ? `[${address}]` : address}:${port}${database}`;
  if (![...urls, primaryURL('127.0.0.1', '1')].every((one) => URL.canParse(one))) return undefined;
  return { urls, name, primaryURL };
}
