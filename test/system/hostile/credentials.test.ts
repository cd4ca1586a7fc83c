import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { credentialLimits } from '../../../src/credentials/credential-service.js';
import { aCredential } from '../../support/factories.js';
import { startServer, type TestServer } from '../../support/server.js';

describe('a flood of requests to issue credentials', () => {
  let s: TestServer;
  beforeEach(async () => {
    s = await startServer();
  });
  afterEach(() => s.close());

  it('is CONFLICT at the limit of a day, and stores nothing', async () => {
    const { credentials } = s.t.app.services;
    const created = s.t.clock.now;
    for (let n = 0; n < credentialLimits.recent - 5; n += 1) {
      await credentials.add(aCredential(`c${n}`, { orgID: 'acme', scopes: ['read'], created }));
    }
    const codes = new Map<string, number>();
    const send = async (field: string) => {
      const response = await fetch(`${s.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-svc-authorization': s.t.service },
        body: JSON.stringify({ query: `mutation { ${field} { secret } }` }),
      });
      const { errors } = (await response.json()) as { errors?: { extensions: { code: string } }[] };
      const code = `${response.status} ${errors?.[0]?.extensions.code ?? 'issued'}`;
      codes.set(code, (codes.get(code) ?? 0) + 1);
    };
    /** Sends requests, 40 at a time. */
    const flood = async (size: number) => {
      let next = 0;
      const sendAll = async () => {
        for (let n = next++; n < size; n = next++) {
          await send(
            n % 4 === 0
              ? `rotateKeyCredential(id: "c${n}", overlapHours: 1)`
              : `issueKeyCredential(label: "flood ${n}", orgID: "acme", scopes: [READ], idempotencyKey: "flood-${n}")`,
          );
        }
      };
      await Promise.all(Array.from({ length: 40 }, sendAll));
    };
    await flood(20);
    expect([codes.get('200 issued'), codes.size]).toEqual([5, 2]);
    const before = await credentials.list();
    codes.clear();
    await flood(400);
    // Those of the first flood that were issued are found again. A busy service may reject some before it looks.
    const expected = new Set(['200 issued', '200 CONFLICT', '503 UNAVAILABLE']);
    expect([...codes.keys()].filter((code) => !expected.has(code))).toEqual([]);
    expect(codes.get('200 CONFLICT')).toBeGreaterThan(100);
    expect(codes.get('200 issued') ?? 0).toBeLessThanOrEqual(5);
    expect(await credentials.list()).toEqual(before);
  });
});
