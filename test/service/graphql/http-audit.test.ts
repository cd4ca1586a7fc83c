import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.js';

/** A client without a credential, and one that may read the schema only with its credential. */
const callers = [
  ['in development, without a credential', {}, () => ({})],
  [
    'in production, with a management credential',
    { NODE_ENV: 'production' },
    (t: TestApp) => ({ authorization: `Bearer ${t.management}` }),
  ],
] as const;

describe.each(callers)('G-01 GraphQL over HTTP, %s,', (_, env, credential) => {
  let t: TestApp;
  beforeAll(async () => {
    t = await startApp(env);
  });
  afterAll(() => t.close());

  const audits = serverAudits({
    url: 'http://keyfront.test/graphql',
    // The audits give no other form of request than these two.
    fetchFn: (url: string, init: RequestInit = {}) =>
      t.app.fetch(
        new Request(url, {
          ...init,
          headers: {
            ...(init.headers as Record<string, string>),
            'apollo-require-preflight': 'true',
            ...credential(t),
          },
        }),
      ),
  });

  it('is audited in full', () => {
    expect(audits).toHaveLength(61);
  });

  it.each(audits.map(({ id, name, fn }) => ({ id, name, fn })))('$id $name', async ({ fn }) => {
    expect(await fn()).toMatchObject({ status: 'ok' });
  });
});
