import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ports } from '../../src/keys/ports.js';
import { createKeyService } from '../../src/keys/service.js';
import { dataOf, errorsOf } from '../support/answers.js';
import { startApp, type TestApp } from '../support/app.js';
import { plant } from '../support/planted.js';
import { stateOf } from '../support/state.js';

/** Short enough for a test, and long enough for what is not slow on purpose. */
const deadlineMs = 500;
const longer = 700;
/** For what must not happen any more. */
const aWhile = 150;

let t: TestApp;
beforeEach(async () => {
  t = await startApp();
  await t.importKeys(
    { key_id: 'a', org_id: 'acme', quota_max: 10 },
    { key_id: 'b', org_id: 'acme' },
    { key_id: 'c', org_id: 'acme' },
  );
});
afterEach(async () => t.close());

const ports = () => t.app.installation.ports;
const keys = () => createKeyService(ports());

/** Holds whoever comes through it until it is opened. */
function createGate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** In the place of a hash that takes its time. */
const hash: Ports['hashPassword'] = (_, type) =>
  Promise.resolve(type === 'bcrypt' ? `$2b$10$${'x'.repeat(53)}` : '$argon2id$');

const withPassword = 'input: { basicAuthData: { user: "u", password: "correct horse" } }';
const everyState = () => Promise.all(['a', 'b', 'c', 'new'].map((keyID) => stateOf(t, keyID)));

describe('a query', () => {
  it('G-10 that takes longer than the deadline is UNAVAILABLE, and no later resolver of it runs', async () => {
    const ran: string[] = [];
    const gate = createGate();
    const { graphql } = plant(t, {
      deadlineMs: 50,
      keys: {
        orgKey: async (caller, reference) => {
          ran.push('orgKey');
          await gate.opened;
          return keys().orgKey(caller, reference);
        },
        quotaOf: (key) => {
          ran.push('quota');
          return keys().quotaOf(key);
        },
      },
    });
    const answer = await graphql('{ orgKey(keyID: "a") { quota { used } } __typename }');
    expect(errorsOf(answer)).toStrictEqual([
      {
        message: 'The query took longer than 0.05 seconds.',
        extensions: { code: 'UNAVAILABLE', requestID: 'request-1', retryAfterSeconds: 1 },
      },
    ]);
    expect(answer.body).not.toHaveProperty('data');
    gate.open();
    await wait(aWhile);
    expect(ran).toEqual(['orgKey']);
  });

  it.each([
    ['application/json', 200],
    ['application/graphql-response+json', 503],
  ])('G-10 that takes longer is answered to clients of %s with status %i', async (accept, status) => {
    const { graphql } = plant(t, { deadlineMs: 50, keys: { orgKey: () => new Promise(() => undefined) } });
    const answer = await graphql('{ orgKey(keyID: "a") { keyHash } }', {}, { accept });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  it('G-10 that is in time is answered whole', async () => {
    const { graphql } = plant(t, { deadlineMs: 10_000 });
    expect(dataOf(await graphql('{ orgKeys { edges { node { history { edges { cursor } } } } } }'))).toHaveProperty(
      'edges',
    );
  });
});

describe('a mutation', () => {
  it.each([
    ['updateOrgKey', `updateOrgKey(keyID: "a", ${withPassword}) { version }`],
    ['createOrgKey', `createOrgKey(keyID: "new", ${withPassword.replace('{', '{ orgID: "acme",')}) { version }`],
    [
      'updateOrgKeys',
      `updateOrgKeys(filter: {}, ${withPassword.replace('input', 'patch')}, dryRun: false) { items { error { code } } }`,
    ],
  ])(
    'G-10 %s whose password hashing outlasts the deadline is UNAVAILABLE, and writes nothing then or later',
    async (name, mutation) => {
      const gate = createGate();
      let waiting = 0;
      const { graphql } = plant(t, {
        deadlineMs: 50,
        ports: {
          hashPassword: async (password, type) => {
            waiting += 1;
            await gate.opened;
            return hash(password, type);
          },
        },
      });
      const before = await everyState();
      const answer = await graphql(`mutation { ${mutation} }`);
      expect(answer.body['data']).toBeNull();
      expect(errorsOf(answer)).toMatchObject([
        {
          message: 'The operation took longer than 0.05 seconds, and this change had not begun: nothing was written.',
          path: [name],
          extensions: { code: 'UNAVAILABLE' },
        },
      ]);
      gate.open();
      await wait(aWhile);
      expect(waiting).toBe(1);
      expect(await everyState()).toStrictEqual(before);
    },
  );

  it.each([
    ['updateOrgKey(keyID: "a", input: {}) { version }'],
    ['deleteOrgKey(keyID: "a") { version }'],
    ['revertOrgKey(keyID: "a", toVersion: 1) { version }'],
    ['consumeOrgQuota(keyID: "a") { allowed }'],
    ['resetOrgQuotas(filter: {}, dryRun: false) { items { error { code } } }'],
  ])('G-10 %s that storage keeps waiting is not written after the deadline', async (mutation) => {
    const { store, quotas } = ports();
    const gate = createGate();
    const { graphql } = plant(t, {
      deadlineMs: 50,
      ports: {
        store: { ...store, update: (...args) => gate.opened.then(() => store.update(...args)) },
        quotas: { ...quotas, consume: (...args) => gate.opened.then(() => quotas.consume(...args)) },
      },
    });
    const before = await everyState();
    const answer = await graphql(`mutation { ${mutation} }`);
    expect(errorsOf(answer)).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
    gate.open();
    await wait(aWhile);
    expect(await everyState()).toStrictEqual(before);
  });

  it('G-10 whose transaction began in time goes on to its end, and its answer tells what it did', async () => {
    const { store } = ports();
    const { graphql } = plant(t, {
      deadlineMs,
      // As of an engine that takes its time to commit.
      ports: {
        store: { ...store, update: async (...args) => (await Promise.all([store.update(...args), wait(longer)]))[0] },
      },
    });
    const answer = await graphql(
      'mutation { updateOrgKey(keyID: "a", input: { alias: "after" }) { version definition { alias } } }',
    );
    expect(dataOf(answer)).toStrictEqual({ version: 2, definition: { alias: 'after' } });
    expect((await stateOf(t, 'a')).key?.definition).toMatchObject({ alias: 'after' });
  });

  it('G-10 after another one in the operation does not begin after the deadline, and the one before stays done', async () => {
    const { store } = ports();
    let steps = 0;
    const { graphql } = plant(t, {
      deadlineMs,
      ports: {
        hashPassword: (...args) => {
          steps += 1;
          return hash(...args);
        },
        store: {
          ...store,
          update: async (...args) => {
            steps += 1;
            return (await Promise.all([store.update(...args), wait(longer)]))[0];
          },
        },
      },
    });
    const [, ...others] = await everyState();
    const answer = await graphql(`mutation {
      a: updateOrgKey(keyID: "a", input: { alias: "done" }) { version }
      b: createOrgKey(keyID: "new", ${withPassword.replace('{', '{ orgID: "acme",')}) { version }
      c: updateOrgKey(keyID: "c", input: { alias: "not begun" }) { version } }`);
    expect(errorsOf(answer)).toMatchObject([{ path: ['b'], extensions: { code: 'UNAVAILABLE' } }]);
    expect(steps).toBe(1);
    const after = await everyState();
    expect(after[0]?.key?.definition).toMatchObject({ alias: 'done' });
    expect(after.slice(1)).toStrictEqual(others);
  });

  it('G-10 after one that was done in time does not keep the answer waiting', async () => {
    const { graphql } = plant(t, { deadlineMs, ports: { hashPassword: () => new Promise(() => undefined) } });
    const answer = await graphql(`mutation {
      a: updateOrgKey(keyID: "a", input: { alias: "done" }) { version }
      b: updateOrgKey(keyID: "b", ${withPassword}) { version } }`);
    expect(errorsOf(answer)).toMatchObject([{ path: ['b'], extensions: { code: 'UNAVAILABLE' } }]);
    expect((await stateOf(t, 'a')).key?.definition).toMatchObject({ alias: 'done' });
  });

  it('G-10 of many keys tells for each whether it was changed in time', async () => {
    const { store } = ports();
    let updates = 0;
    const { graphql } = plant(t, {
      deadlineMs,
      ports: {
        store: {
          ...store,
          update: async (...args) => {
            updates += 1;
            return (await Promise.all([store.update(...args), wait(updates === 2 ? longer : 0)]))[0];
          },
        },
      },
    });
    const answer = await graphql(`
      mutation {
        updateOrgKeys(filter: {}, patch: { alias: "bulk" }, dryRun: false) {
          items {
            orgKey {
              keyID
              definition {
                alias
              }
            }
            change {
              version
            }
            error {
              code
              message
            }
          }
        }
      }
    `);
    const { items } = dataOf<{ items: { orgKey: { keyID: string }; change: object | null; error: object | null }[] }>(
      answer,
    );
    expect(items.map(({ change }) => change)).toStrictEqual([{ version: 2 }, { version: 2 }, null]);
    expect(items.map(({ error }) => error)).toStrictEqual([
      null,
      null,
      {
        code: 'UNAVAILABLE',
        message: 'The operation took longer than 0.5 seconds, and this change had not begun: nothing was written.',
      },
    ]);
    for (const { orgKey, change } of items) {
      const { key } = await stateOf(t, orgKey.keyID);
      expect(key?.definition.alias).toBe(change ? 'bulk' : undefined);
    }
  });

  it('G-10 of many keys hashes no further password after the deadline', async () => {
    let hashes = 0;
    const { graphql } = plant(t, {
      deadlineMs,
      ports: {
        hashPassword: async (password, type) => {
          hashes += 1;
          await wait(hashes === 2 ? longer : 0);
          return hash(password, type);
        },
      },
    });
    const answer =
      await graphql(`mutation { updateOrgKeys(filter: {}, ${withPassword.replace('input', 'patch')}, dryRun: false) {
      items { error { code } } } }`);
    expect(dataOf(answer)).toStrictEqual({
      items: [{ error: null }, { error: { code: 'UNAVAILABLE' } }, { error: { code: 'UNAVAILABLE' } }],
    });
    expect(hashes).toBe(2);
  });

  it('G-10 that is in time is answered as ever, and nothing is left waiting', async () => {
    const { graphql } = plant(t, { deadlineMs: 10_000 });
    const answer = await graphql(`mutation { updateOrgKey(keyID: "a", ${withPassword}) { version } }`);
    expect(dataOf(answer)).toStrictEqual({ version: 2 });
  });
});
