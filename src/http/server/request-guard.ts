import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../refusal.js';

/** What makes a request one that two readers may understand differently; undefined for a plain one. */
export function flawOf(request: IncomingMessage): Refusal | undefined {
  const { httpVersion, headersDistinct: given } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return flaw(505, 'HTTP 1.1 is spoken here.');
  if (given['expect'] && !/^100-continue$/i.test(given['expect'].join()))
    return flaw(417, 'No such thing is expected.');
  if (!isPlainTarget(request.url ?? '')) return invalid('The path is not in its plain form.');

  const hosts = given['host'] ?? [];
  if (hosts.length > 1) return invalid('The header Host must be given once.');
  if (hosts.length === 0 && httpVersion === '1.1') return invalid('The header Host is missing.');
  if (!isPlainHost(hosts[0] ?? '')) return invalid('The header Host is not a name or an address.');

  // Node keeps the first and drops the other, and a proxy before us may have looked at the other.
  if ((given['content-type']?.length ?? 0) > 1) return invalid('The header Content-Type must be given once.');

  const coding = given['transfer-encoding'];
  if (coding && (httpVersion === '1.0' || coding.length > 1 || coding[0]?.toLowerCase() !== 'chunked')) {
    return invalid('The header Transfer-Encoding must be chunked, in HTTP 1.1.');
  }
  return undefined;
}

function invalid(message: string): Refusal {
  return flaw(400, message);
}

/** Whatever comes after it on the connection is not to be trusted either. */
function flaw(status: number, message: string): Refusal {
  return { status, message, headers: { connection: 'close' } };
}

/** Paths that another reader of URLs would take for a different path are not: dot segments, backslashes, two slashes. */
function isPlainTarget(target: string): boolean {
  const path = target.split('?', 1)[0] ?? '';
  if (!path.startsWith('/') || target.includes('#')) return false;
  return !path.includes('//') && !path.includes('\\') && !/\/(\.|%2e){1,2}(\/|$)/i.test(path);
}

/** Whether `Host` can stand in a URL: what cannot would fail later, and with a stack trace for an answer. */
function isPlainHost(host: string): boolean {
  return host === '' || (/^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i.test(host) && URL.canParse(`http://${host}`));
}
