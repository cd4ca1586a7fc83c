import type { IncomingMessage } from 'node:http';
import type { Rejection } from './rejection.js';

/** Returns the rejection of a request that a proxy and this server may interpret differently; undefined if valid. */
export function validateRequest(request: IncomingMessage): Rejection | undefined {
  const { httpVersion, headersDistinct: headers } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return reject(505, 'HTTP version not supported; use HTTP/1.1.');
  if (headers['expect'] && !/^100-continue$/i.test(headers['expect'].join()))
    return reject(417, 'Unsupported Expect header; only 100-continue is supported.');
  if (!isNormalTarget(request.url ?? ''))
    return reject(
      400,
      'The path must be in normal form: without dot segments, backslashes, fragments or empty segments.',
    );

  const hosts = headers['host'] ?? [];
  if (hosts.length > 1) return reject(400, 'The Host header must not be repeated.');
  if (hosts.length === 0 && httpVersion === '1.1') return reject(400, 'The Host header is missing.');
  if (!isHost(hosts[0] ?? '')) return reject(400, 'The Host header is not a host name or an address.');

  // Node keeps the first header and drops the second, which a proxy may have used.
  if ((headers['content-type']?.length ?? 0) > 1) return reject(400, 'The Content-Type header must not be repeated.');

  const coding = headers['transfer-encoding'];
  if (coding && (httpVersion === '1.0' || coding.length > 1 || coding[0]?.toLowerCase() !== 'chunked')) {
    return reject(400, 'The Transfer-Encoding header must be chunked, and requires HTTP/1.1.');
  }
  return undefined;
}

/** The connection is closed: the bytes after an ambiguous request may be part of it. */
function reject(status: number, message: string): Rejection {
  return { status, message, headers: { connection: 'close' } };
}

/** Whether all URL parsers map the target to the same path. */
function isNormalTarget(target: string): boolean {
  const path = target.split('?', 1)[0] ?? '';
  if (!path.startsWith('/') || target.includes('#')) return false;
  return !path.includes('//') && !path.includes('\\') && !/\/(\.|%2e){1,2}(\/|$)/i.test(path);
}

/** Whether a `Host` can be part of a URL. Parsing a URL with any other host would throw. */
function isHost(host: string): boolean {
  return host === '' || (/^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i.test(host) && URL.canParse(`http://${host}`));
}
