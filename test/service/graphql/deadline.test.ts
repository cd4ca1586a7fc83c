import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Ports } from '../../../src/keys/ports.js';
import { createKeyService } from '../../../src/keys/key-service.js';
import { dataOf, errorsOf } from '../../support/responses.js';
import { startApp, type TestResponse, type TestApp } from '../../support/app.js';
import { serveWith } from '../../support/overridden-server.js';
import { expectNoChange, stateOf } from '../../support/state.js';
import { eventLoopTurns, until } from '../../support/until.js';

/** Fake time: it advances only when a test advances it. */
const deadlineMs = 60_000;
const reachDeadline = () => void vi.advanceTimersByTime(deadlineMs);

let t: TestApp;
beforeEach(async () => {
  t = await startApp();
  await t.importKeys(
    { key_id: 'a', org_id: 'acme', quota_max: 10 },
    { key_id: 'b', org_id: 'acme' },
    { key_id: 'c', org_id: 'acme' },
  );
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await t.close();
});

const ports = () => t.app.services.ports;
const keys = () => createKeyService(ports());

/** A barrier: callers wait at it until it is opened. */
function createGate() {
  let open: () => void = () => undefined;
  let waiting = 0;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    /** Resolves when the gate is opened. */
    pass: () => {
      waiting += 1;
      return opened;
    },
    /** Resolves when a caller waits. */
    isReached: () => until(() => waiting > 0, 'The gate'),
    open: () => open(),
  };
}

/** Lets the deadline pass while the operation waits at the gate, then opens the gate. */
async function expire(gate: ReturnType<typeof createGate>, response: Promise<TestResponse>): Promise<TestResponse> {
  await gate.isReached();
  reachDeadline();
  const result = await response;
  gate.open();
  await eventLoopTurns();
  return result;
}

/** In the place of a hash that takes its time. */
const hash: Ports['hashPassword'] = (_, type) =>
  Promise.resolve(type === 'bcrypt' ? `$2b$10$${'x'.repeat(53)}` : '$argon2id$');

const withPassword = 'input: { basicAuthData: { user: "u", password: "correct horse" } }';

describe('the deadline of a query', () => {
  it('G-10 fails a query with UNAVAILABLE after the deadline, and runs no later resolver', async () => {
    const ran: string[] = [];
    const gate = createGate();
    const { graphql } = serveWith(t, {
      deadlineMs,
      keys: {
        orgKeysByHash: async (caller, keyHashes) => {
          ran.push('orgKey');
          await gate.pass();
          return keys().orgKeysByHash(caller, keyHashes);
        },
        quotaOf: (key) => {
          ran.push('quota');
          return keys().quotaOf(key);
        },
      },
    });
    const result = await expire(gate, graphql('{ orgKey(by: { keyID: "a" }) { quota { used } } __typename }'));
    expect(errorsOf(result)).toStrictEqual([
      {
        message: 'The query took longer than 60 seconds.',
        extensions: { code: 'UNAVAILABLE', requestID: 'request-1', retryAfterSeconds: 1 },
      },
    ]);
    expect(result.body).not.toHaveProperty('data');
    expect(ran).toEqual(['orgKey']);
  });

  it.each([
    ['application/json', 200],
    ['application/graphql-response+json', 503],
  ])('G-10 reports a query past its deadline to clients of %s with status %i', async (accept, status) => {
    const gate = createGate();
    const { graphql } = serveWith(t, {
      deadlineMs,
      keys: { orgKeysByHash: () => gate.pass().then(() => [undefined]) },
    });
    const result = await expire(gate, graphql('{ orgKey(by: { keyID: "a" }) { keyHash } }', {}, { accept }));
    expect([result.status, result.headers.get('retry-after')]).toStrictEqual([status, '1']);
  });

  it('G-10 returns the full response of a query within the deadline', async () => {
    const { graphql } = serveWith(t, { deadlineMs });
    expect(dataOf(await graphql('{ orgKeys { edges { node { history { edges { cursor } } } } } }'))).toHaveProperty(
      'edges',
    );
  });
});

describe('the deadline of a mutation', () => {
  it.each([
    ['updateOrgKey', `updateOrgKey(keyID: "a", ${withPassword}) { version }`],
    ['createOrgKey', `createOrgKey(keyID: "new", ${withPassword.replace('{', '{ orgID: "acme",')}) { version }`],
    [
      'updateOrgKeys',
      `updateOrgKeys(filter: {}, ${withPassword.replace('input', 'patch')}, dryRun: false) { items { error { code } } }`,
    ],
  ])(
    'G-10 fails %s with UNAVAILABLE when password hashing exceeds the deadline, and writes nothing',
    async (name, mutation) => {
      const gate = createGate();
      let waiting = 0;
      const { graphql } = serveWith(t, {
        deadlineMs,
        ports: {
          hashPassword: async (password, type) => {
            waiting += 1;
            await gate.pass();
            return hash(password, type);
          },
        },
      });
      const result = await expectNoChange(t, () => expire(gate, graphql(`mutation { ${mutation} }`)));
      expect(Object.values(result.body['data'] ?? {})).toStrictEqual([null]);
      expect(errorsOf(result)).toMatchObject([
        {
          message: 'The operation took longer than 60 seconds and this change had not started: nothing was written.',
          path: [name],
          extensions: { code: 'UNAVAILABLE' },
        },
      ]);
      expect(waiting).toBe(1);
    },
  );

  it.each([
    ['updateOrgKey(keyID: "a", input: {}) { version }'],
    ['deleteOrgKey(keyID: "a") { version }'],
    ['revertOrgKey(keyID: "a", toVersion: 1) { version }'],
    ['consumeOrgQuota(keyID: "a") { allowed }'],
    ['resetOrgQuotas(filter: {}, dryRun: false) { items { error { code } } }'],
  ])('G-10 does not write %s that waits for storage past the deadline', async (mutation) => {
    const { store } = ports();
    const gate = createGate();
    const { graphql } = serveWith(t, {
      deadlineMs,
      ports: {
        store: {
          ...store,
          update: (...args) => gate.pass().then(() => store.update(...args)),
          consume: (...args) => gate.pass().then(() => store.consume(...args)),
        },
      },
    });
    const result = await expectNoChange(t, () => expire(gate, graphql(`mutation { ${mutation} }`)));
    expect(errorsOf(result)).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
  });

  it('G-10 completes a mutation whose transaction started in time, and reports its result', async () => {
    const { store } = ports();
    const { graphql } = serveWith(t, {
      deadlineMs,
      // As of an engine whose commit lasts beyond the deadline.
      ports: {
        store: { ...store, update: (...args) => store.update(...args).finally(reachDeadline) },
      },
    });
    const result = await graphql(
      'mutation { updateOrgKey(keyID: "a", input: { alias: "after" }) { version orgKey { definition { alias } } } }',
    );
    expect(dataOf(result)).toStrictEqual({ version: 2, orgKey: { definition: { alias: 'after' } } });
    expect((await stateOf(t, 'a')).key?.definition).toMatchObject({ alias: 'after' });
  });

  it('G-10 starts no further mutation after the deadline, and keeps and returns the previous one', async () => {
    const { store } = ports();
    let steps = 0;
    const { graphql } = serveWith(t, {
      deadlineMs,
      ports: {
        hashPassword: (...args) => {
          steps += 1;
          return hash(...args);
        },
        store: {
          ...store,
          update: (...args) => {
            steps += 1;
            return store.update(...args).finally(reachDeadline);
          },
        },
      },
    });
    const result = await graphql(`mutation {
      a: updateOrgKey(keyID: "a", input: { alias: "done" }) { version }
      b: createOrgKey(keyID: "new", ${withPassword.replace('{', '{ orgID: "acme",')}) { version }
      c: updateOrgKey(keyID: "c", input: { alias: "not begun" }) { version } }`);
    expect(errorsOf(result)).toMatchObject([
      { path: ['b'], extensions: { code: 'UNAVAILABLE' } },
      { path: ['c'], extensions: { code: 'UNAVAILABLE' } },
    ]);
    expect(result.body['data']).toMatchObject({ a: { version: 2 }, b: null, c: null });
    expect(steps).toBe(1);
    expect((await stateOf(t, 'a')).key?.definition).toMatchObject({ alias: 'done' });
    expect((await stateOf(t, 'c')).key?.version).toBe(1);
    expect(await stateOf(t, 'new')).toStrictEqual({ key: undefined, audit: [] });
  });

  it('G-10 does not delay the response by a mutation after one that completed in time', async () => {
    const gate = createGate();
    const { graphql } = serveWith(t, { deadlineMs, ports: { hashPassword: () => gate.pass().then(() => '') } });
    const response = graphql(`mutation {
      a: updateOrgKey(keyID: "a", input: { alias: "done" }) { version }
      b: updateOrgKey(keyID: "b", ${withPassword}) { version } }`);
    const result = await expire(gate, response);
    expect(errorsOf(result)).toMatchObject([{ path: ['b'], extensions: { code: 'UNAVAILABLE' } }]);
    expect((await stateOf(t, 'a')).key?.definition).toMatchObject({ alias: 'done' });
  });

  it('G-10 reports for each key of a bulk change whether it was changed in time', async () => {
    const { store } = ports();
    let updates = 0;
    const { graphql } = serveWith(t, {
      deadlineMs,
      ports: {
        store: {
          ...store,
          update: async (...args) => {
            updates += 1;
            const isSecond = updates === 2;
            const updated = await store.update(...args);
            if (isSecond) reachDeadline();
            return updated;
          },
        },
      },
    });
    const query = `mutation { updateOrgKeys(filter: {}, patch: { alias: "bulk" }, dryRun: false) {
      items { orgKey { keyID definition { alias } } change { version } error { code message } } } }`;
    const { items } = dataOf<{ items: { orgKey: { keyID: string }; change: object | null; error: object | null }[] }>(
      await graphql(query),
    );
    expect(items.map(({ change }) => change)).toStrictEqual([{ version: 2 }, { version: 2 }, null]);
    expect(items.map(({ error }) => error)).toStrictEqual([
      null,
      null,
      {
        code: 'UNAVAILABLE',
        message: 'The operation took longer than 60 seconds and this change had not started: nothing was written.',
      },
    ]);
    for (const { orgKey, change } of items) {
      const { key } = await stateOf(t, orgKey.keyID);
      expect(key?.definition.alias).toBe(change ? 'bulk' : undefined);
    }
  });

  it('G-10 hashes no more passwords of a bulk change after the deadline', async () => {
    let hashes = 0;
    const { graphql } = serveWith(t, {
      deadlineMs,
      ports: {
        hashPassword: async (password, type) => {
          hashes += 1;
          if (hashes === 2) reachDeadline();
          return hash(password, type);
        },
      },
    });
    const result =
      await graphql(`mutation { updateOrgKeys(filter: {}, ${withPassword.replace('input', 'patch')}, dryRun: false) {
      items { error { code } } } }`);
    expect(dataOf(result)).toStrictEqual({
      items: [{ error: null }, { error: { code: 'UNAVAILABLE' } }, { error: { code: 'UNAVAILABLE' } }],
    });
    expect(hashes).toBe(2);
  });

  it('G-10 returns the response of a mutation within the deadline, and leaves no timers', async () => {
    const { graphql } = serveWith(t, { deadlineMs });
    const result = await graphql(`mutation { updateOrgKey(keyID: "a", ${withPassword}) { version } }`);
    expect(dataOf(result)).toStrictEqual({ version: 2 });
  });
});
