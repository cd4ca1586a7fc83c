import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../lib/errors.js';
import { defaultHeaders } from './default-headers.js';

/** Why the server itself turns a request away, before anybody else has looked at it. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly code?: ErrorCode;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers with a refusal, in the form that errors have in REST. */
export function refuse(response: ServerResponse, refusal: Refusal): void {
  const body = bodyOf(refusal);
  response.writeHead(refusal.status, headersOf(refusal, body)).end(body);
}

/** The same for bytes that never became a request. The connection ends with it. */
export function refuseOn(socket: Duplex, refusal: Refusal): void {
  const body = bodyOf(refusal);
  const headers = Object.entries({ ...headersOf(refusal, body), connection: 'close' });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}\r\n${lines}\r\n${body}`, () =>
    socket.destroy(),
  );
}

function bodyOf({ message, code = 'INVALID' }: Refusal): string {
  return JSON.stringify({ status: 'error', message, code });
}

function headersOf({ headers }: Refusal, body: string): Record<string, string | number> {
  return {
    ...defaultHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...headers,
  };
}
