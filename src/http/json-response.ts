import { stringifyJSON } from '../lib/json.js';
import type { HTTPResponse } from './response.js';

/** A response of JSON; 64-bit integers are written in digits. */
export function jsonResponse(
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): HTTPResponse {
  return textResponse(stringifyJSON(body), status, headers);
}

/** A JSON response with a list of items that are JSON texts already, and more members beside it. */
export function jsonList(name: string, items: readonly string[], more: Readonly<Record<string, string>>): HTTPResponse {
  const others = Object.entries(more).map(([member, value]) => `,${JSON.stringify(member)}:${JSON.stringify(value)}`);
  return textResponse(`{${JSON.stringify(name)}:[${items.join()}]${others.join('')}}`, 200, {});
}

function textResponse(text: string, status: number, headers: Readonly<Record<string, string>>): HTTPResponse {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body: text };
}
