import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../../support/server.js';

/*
 * The probes of graphql-cop 1.15, as its source has them, over HTTP against a server in production and without any
 * credential. A hit is what graphql-cop takes for one.
 */

let s: TestServer;
beforeAll(async () => {
  s = await startServer({ NODE_ENV: 'production' });
});
afterAll(async () => s.close());

interface TestResponse {
  readonly status: number;
  readonly text: string;
  /** The body as JSON; undefined where it is none. */
  readonly body: unknown;
}

async function send(init: RequestInit, target = '/graphql'): Promise<TestResponse> {
  const response = await fetch(`${s.url}${target}`, { redirect: 'manual', ...init });
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // graphql-cop goes on without one too.
  }
  expect(response.status).toBeLessThan(500);
  return { status: response.status, text, body };
}

const post = (body: unknown) =>
  send({ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
const operation = (query: string) => post({ query, operationName: 'cop' });

/** What stands at a path in a JSON value; undefined where there is no such place. */
function inside(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (found, step) =>
      typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[step] : undefined,
    value,
  );
}

const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 0);

describe('G-01 graphql-cop finds nothing in production without a credential, with', () => {
  it('G-12 field_suggestions: suggests no name of the schema', async () => {
    const { text } = await operation('query cop { __schema { directive } }');
    expect(text).not.toContain('Did you mean');
    for (const query of [
      'query cop { previewKeys }',
      'query cop { orgKei(keyID: "x") { id } }',
      'mutation cop { updateOrgKe }',
    ]) {
      expect((await operation(query)).text).not.toMatch(/did you mean|previewKey\b|orgKey\b|updateOrgKey\b/i);
    }
  });

  it('introspection: returns no type', async () => {
    const { body, text } = await operation('query cop { __schema { types { name fields { name } } } }');
    expect(inside(body, 'data', '__schema', 'types')).toBeUndefined();
    expect(text).not.toContain('OrgKey');
  });

  it('detect_graphiql: serves no page', async () => {
    for (const path of ['/graphql', '/', '/graphiql', '/playground', '/console', '/altair']) {
      const { text } = await send({ headers: { accept: 'text/html' } }, path);
      expect(text).not.toMatch(/graphiql|graphql-playground|altair|<html/i);
    }
  });

  it('get_method_support: executes no query by GET', async () => {
    const { body } = await send({}, `/graphql?query=${encodeURIComponent('query cop {__typename}')}`);
    expect(inside(body, 'data', '__typename')).toBeUndefined();
  });

  it('alias_overloading: rejects a hundred aliases', async () => {
    const aliases = Array.from({ length: 101 }, (_, number) => `alias${number}:__typename`).join(' ');
    const { body } = await operation(`query cop { ${aliases} }`);
    expect(inside(body, 'data', 'alias100')).toBeUndefined();
  });

  it('G-05 batch_query: rejects a list of operations', async () => {
    const { body } = await post(
      Array.from({ length: 10 }, () => ({ query: 'query cop { __typename }', operationName: 'cop' })),
    );
    expect(lengthOf(body)).toBeLessThan(10);
    expect(inside(body, 0, 'data')).toBeUndefined();
  });

  it('trace_mode: returns no timings', async () => {
    const { body, text } = await operation('query cop { __typename }');
    expect(inside(body, 'errors', 0, 'extensions', 'tracing')).toBeUndefined();
    expect(inside(body, 'extensions', 'tracing')).toBeUndefined();
    expect(text).not.toContain('tracing');
  });

  it('directive_overloading: does not list ten unknown directives one by one', async () => {
    const { body } = await operation(`query cop { __typename ${'@aa'.repeat(10)} }`);
    expect(lengthOf(inside(body, 'errors'))).not.toBe(10);
    expect(inside(body, 'data')).toBeUndefined();
  });

  it('circular_query_introspection: returns no types through their fields either', async () => {
    const { body } = await operation(
      'query cop { __schema { types { fields { type { fields { type { fields { type { fields { type { name } } } } } } } } } } }',
    );
    expect(lengthOf(inside(body, 'data', '__schema', 'types'))).toBe(0);
  });

  it('get_based_mutation: executes no mutation by GET', async () => {
    const { body, status } = await send({}, `/graphql?query=${encodeURIComponent('mutation cop {__typename}')}`);
    expect(inside(body, 'data', '__typename')).toBeUndefined();
    expect(status).toBeGreaterThanOrEqual(400);
  });

  it('post_based_csrf: rejects a form', async () => {
    const { body, status } = await send({
      method: 'POST',
      body: new URLSearchParams({ query: 'query cop {__typename}' }),
    });
    expect(inside(body, 'data', '__typename')).toBeUndefined();
    expect(status).toBe(415);
  });

  it('unhandled_error_detection: returns no exception', async () => {
    const { body, text } = await operation('qwerty cop { abc }');
    expect(inside(body, 'errors', 0, 'extensions', 'exception')).toBeUndefined();
    expect(text).not.toMatch(/node_modules|\.js:|\.ts:|stack/);
  });

  it('field_duplication, which graphql-cop dropped: rejects one field five hundred times, or executes it once', async () => {
    const { text, status } = await operation(`query cop { ${'__typename '.repeat(500)} }`);
    if (status === 200) expect(text.length).toBeLessThan(500);
  });
});
