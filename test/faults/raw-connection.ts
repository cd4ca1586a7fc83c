import { connect, type Socket } from 'node:net';
import type { Input } from './fuzz-inputs.js';

export interface RawResponse {
  /** 0 if the connection was closed without a response. */
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  readonly milliseconds: number;
}

/** Sends requests one after the other, byte for byte, which no client of HTTP would do with such requests. */
export function createConnection(port: number, timeoutMs: number) {
  let socket: Socket | undefined;

  async function send(input: Input): Promise<RawResponse> {
    const began = performance.now();
    socket ??= connect(port, '127.0.0.1').setNoDelay(true);
    const current = socket;
    const response = await new Promise<Omit<RawResponse, 'milliseconds'>>((resolve) => {
      let received: Buffer = Buffer.alloc(0);
      const finish = (found: Omit<RawResponse, 'milliseconds'>, isOver: boolean) => {
        clearTimeout(timer);
        current.removeAllListeners('data').removeAllListeners('close').removeAllListeners('error');
        if (isOver) {
          current.on('error', () => undefined).destroy();
          socket = undefined;
        }
        resolve(found);
      };
      const timer = setTimeout(() => finish({ ...none, text: 'no response' }, true), timeoutMs);
      current.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        const found = responseIn(received, input.method === 'HEAD');
        if (found) finish(found, /close/i.test(found.headers.get('connection') ?? ''));
      });
      current.on('error', () => undefined);
      current.on('close', () => finish(responseIn(received, true) ?? none, true));
      current.write(bytesOf(input));
    });
    return { ...response, milliseconds: performance.now() - began };
  }

  return { send, close: () => socket?.destroy() };
}

const none = { status: 0, headers: new Map<string, string>(), text: '' };

function bytesOf({ method, target, headers, body }: Input): Buffer {
  const hasHost = headers.some(([name]) => name === 'host');
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(hasHost ? [] : ['host: 127.0.0.1']),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `content-length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}

/** The response at the beginning of the received bytes; undefined while it is incomplete. */
function responseIn(received: Buffer, hasNoBody: boolean): Omit<RawResponse, 'milliseconds'> | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(first.split(' ')[1]);
  const rest = received.subarray(end + 4);
  if (status < 200) return responseIn(rest, hasNoBody);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  if (hasNoBody || status === 204 || status === 304) return { status, headers, text: '' };
  const length = headers.get('content-length');
  if (length !== undefined) {
    return rest.length < Number(length)
      ? undefined
      : { status, headers, text: rest.subarray(0, Number(length)).toString('utf8') };
  }
  if (headers.get('transfer-encoding') === 'chunked') {
    const text = unchunked(rest);
    return text === undefined ? undefined : { status, headers, text };
  }
  return /close/i.test(headers.get('connection') ?? '') ? undefined : { status, headers, text: '' };
}

function unchunked(bytes: Buffer): string | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at);
    if (line === -1) return undefined;
    const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16);
    if (bytes.length < line + 2 + size + 2) return undefined;
    if (size === 0) return Buffer.concat(parts).toString('utf8');
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
