import { expect } from 'vitest';
import { stringifyJSON } from '../../src/lib/json.js';
import type { TestResponse, TestApp } from './app.js';

/** An issue of an error response of either API. */
interface Issue {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

interface GraphQLError {
  readonly message: string;
  readonly path?: (string | number)[];
  readonly extensions: { readonly code: string; readonly issues?: readonly Issue[]; readonly requestID?: string };
}

/** Returns the errors of a GraphQL response. */
export function errorsOf({ body }: TestResponse): GraphQLError[] {
  return (body['errors'] ?? []) as GraphQLError[];
}

/** Returns the error code of a response of either API; undefined if there is none. */
export function codeOf(response: TestResponse): unknown {
  return errorsOf(response)[0]?.extensions.code ?? response.body['code'];
}

/** Returns `path code` of each issue in an error response of either API, sorted. */
export function issuesOf(response: TestResponse): string[] {
  const issues =
    errorsOf(response)[0]?.extensions.issues ?? (response.body['issues'] as readonly Issue[] | undefined) ?? [];
  return issues.map(({ path, code }) => `${path} ${code}`).sort();
}

/** Returns the value of the first root field of an operation. Fails if the response has errors. */
export function dataOf<T = Record<string, unknown>>({ body }: TestResponse): T {
  expect(body['errors']).toBeUndefined();
  const [value] = Object.values(body['data'] as object) as unknown[];
  return value as T;
}

/** Sends a request to the REST API with a service credential. */
export function sendRequest(
  t: TestApp,
  method: string,
  target: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  return t.send(target, {
    method,
    ...(body !== undefined && { body: stringifyJSON(body) }),
    headers: {
      'x-svc-authorization': t.service,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
}
