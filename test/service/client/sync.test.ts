import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { recordExpiryNotices } from '../../../src/keys/expiry-notices.js';
import { retireIdentifiers } from '../../../src/keys/rotate.js';
import { createClient, sync, type DeliveredFragment, type SyncOptions } from '../../../src/client/client.js';
import { startApp, startOwnApp, type TestApp } from '../../support/app.js';
import { describeEngines, makeOwnPlace } from '../../support/engines.js';
import { hashOf } from '../../support/factories.js';
import { temporaryFolder } from '../../support/folder.js';
import { dataOf, sendRequest } from '../../support/responses.js';
import { tamper } from '../../support/tamper.js';
import { until } from '../../support/until.js';

class Crash extends Error {}

/** A copy of the keys, whose adapter can be stopped at any call: before it has done its work, or after that. */
class Copy {
  readonly keys = new Map<string, DeliveredFragment>();
  readonly unreadable: string[] = [];
  readonly calls: string[] = [];
  saved: string | undefined;
  crashAt = Infinity;
  crashes = 0;
  /** Runs before the call with this number. */
  onCall: (call: string) => void | Promise<void> = () => undefined;

  async #called(name: string, work: () => void): Promise<void> {
    await this.onCall(name);
    const number = this.calls.push(name);
    const isCrash = number === this.crashAt;
    // Every second one has done its work, and could not say so.
    if (!isCrash || number % 2 === 0) work();
    if (!isCrash) return;
    this.crashes += 1;
    throw new Crash();
  }

  readonly options: SyncOptions = {
    onUpsert: (key) => this.#called('upsert', () => this.keys.set(key.keyHash, key)),
    onDelete: (keyHash) => this.#called('delete', () => this.keys.delete(keyHash)),
    onUnreadable: (keyHash) => void this.unreadable.push(keyHash),
    checkpoint: {
      load: () => this.saved,
      save: (text) => this.#called('save', () => (this.saved = text)),
      keyHashes: () => this.keys.keys(),
    },
  };
}

/** A service that can be restarted, and is not reachable meanwhile. */
let t: TestApp;
let service: string;
const asAdapter = async (scopes: readonly ('read' | 'deliver')[] = ['read', 'deliver'], orgID?: string) => {
  service = (await t.issue('service', { scopes, ...(orgID !== undefined && { orgID }) })).secret;
};
const clientOf = (send: typeof fetch = (input, init) => t.app.fetch(new Request(input, init))) =>
  createClient({ url: 'http://keyfront.test', service: () => service, fetch: send });

/** Runs an adapter, again after each crash, until the work is done. */
async function whileSyncing(
  copy: Copy,
  work: () => Promise<unknown>,
  options: Partial<SyncOptions> = {},
  client = clientOf(),
): Promise<void> {
  const over = new AbortController();
  const run = async () => {
    while (!over.signal.aborted) {
      await sync(client, { ...copy.options, ...options, signal: over.signal }).catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error;
      });
    }
  };
  const running = run();
  try {
    await Promise.race([work(), running.then(() => Promise.reject(new Error('The adapter has ended.')))]);
  } finally {
    over.abort();
    await running;
  }
}

/** What an adapter would read now. */
async function truth(orgID?: string): Promise<Map<string, DeliveredFragment>> {
  const keys = new Map<string, DeliveredFragment>();
  const page = await t.app.services.store.list({
    filter: { orgID },
    orderBy: 'KEY_HASH',
    descending: false,
    limit: 1_000,
    now: t.clock.now,
  });
  for (const { keyHash } of page.keys) {
    const query = `{ deliverKey(by: { keyHash: "${keyHash}" }) { keyHash keyID identifierHash
      rotation { oldKeyID oldIdentifierHash retiresAt silence } orgID version state data } }`;
    keys.set(keyHash, dataOf<DeliveredFragment>(await t.graphql(query, {}, { 'x-svc-authorization': service })));
  }
  return keys;
}

async function untilSame(copy: Copy, orgID?: string): Promise<void> {
  const wanted = await truth(orgID);
  const shown = (keys: ReadonlyMap<string, DeliveredFragment>) =>
    [...keys.values()].map(({ keyID, version, state }) => `${keyID} ${version} ${state}`).toSorted();
  await until(() => JSON.stringify(shown(copy.keys)) === JSON.stringify(shown(wanted)), 'A copy with all changes');
  expect(new Map([...copy.keys].toSorted())).toEqual(new Map([...wanted].toSorted()));
}

/** Changes and restarts of the service, one at a time. */
let last: Promise<unknown> = Promise.resolve();
const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
  const result = last.then(work);
  last = result.catch(() => undefined);
  return result;
};

const change = async (field: string) =>
  dataOf<Record<string, unknown>>(await inTurn(() => t.graphql(`mutation { ${field} }`)));
const retire = () =>
  retireIdentifiers(t.app.services, (_, error) => {
    throw error;
  });

/** One change of each kind, of the keys k1 to k4. */
async function changeEverything(): Promise<void> {
  await change('patchOrgKey(keyID: "k1", patch: {alias: "changed", hmacString: "another secret"}) { version }');
  await change('deleteOrgKey(keyID: "k2") { version }');
  await change('rotateOrgKey(keyID: "k3", overlap: 0) { version }');
  await change('deleteOrgKey(keyID: "k4") { version }');
  await change('restoreOrgKey(keyID: "k4") { version }');
  await change('rotateOrgKey(keyID: "k4") { version }');
  await change('createOrgKey(keyID: "k5", input: {orgID: "acme", jwtData: {secret: "new secret"}}) { version }');
}

const initial = ['k1', 'k2', 'k3', 'k4'].map((name) => ({
  key_id: name,
  org_id: 'acme',
  hmac_string: `secret of ${name}`,
  basic_auth_data: { password: `password of ${name}` },
}));

/** A key that the copy has, and the service has no more. */
const ghost = { keyHash: 'ghost', keyID: 'ghost', version: 1, state: 'ACTIVE' } as DeliveredFragment;

describeEngines('sync', (engine) => {
  beforeEach(async () => {
    t = await startOwnApp((await makeOwnPlace(engine)).env);
    await t.importKeys(...initial, { key_id: 'g1', org_id: 'globex' });
    await asAdapter();
  });

  it('copies all keys, removes those that are gone, and follows every kind of change', async () => {
    const copy = new Copy();
    copy.keys.set('ghost', ghost);
    await whileSyncing(copy, async () => {
      await untilSame(copy);
      await changeEverything();
      await untilSame(copy);
      expect(copy.keys.get(hashOf('k4'))).toMatchObject({ rotation: { oldKeyID: 'k4' } });
      t.clock.now = new Date(t.clock.now.getTime() + 2 * 86_400_000);
      await retire();
      await until(() => copy.keys.get(hashOf('k4'))?.rotation === null, 'The retirement');
      await untilSame(copy);
    });
  });

  it('continues at its checkpoint after changes that were made while it did not run', async () => {
    const copy = new Copy();
    await whileSyncing(copy, () => untilSame(copy));
    await until(() => copy.saved !== undefined);
    await changeEverything();
    const before = copy.calls.length;
    await whileSyncing(copy, () => untilSame(copy));
    // It read no key that was not changed.
    expect(copy.keys.get(hashOf('g1'))).toBeDefined();
    expect(copy.calls.slice(before).filter((call) => call === 'upsert').length).toBeLessThan(8);
  });

  it('removes a key that was purged while it did not run, and shows one that has expired', async () => {
    await t.importKeys({ key_id: 'short', org_id: 'acme', expires: t.clock.now.getTime() / 1000 + 60 });
    await recordExpiryNotices(t.app.services, []);
    const copy = new Copy();
    await whileSyncing(copy, () => untilSame(copy));
    await sendRequest(t, 'DELETE', '/svc/org/keys/k2');
    t.clock.now = new Date(t.clock.now.getTime() + 120_000);
    await recordExpiryNotices(t.app.services, []);
    t.clock.now = new Date(t.clock.now.getTime() + 31 * 86_400_000);
    expect(await t.app.services.store.purge(new Date(t.clock.now.getTime() - 86_400_000), t.clock.now)).toBe(1);
    await whileSyncing(copy, () => untilSame(copy));
    expect(copy.keys.has(hashOf('k2'))).toBe(false);
    expect(copy.keys.get(hashOf('short'))).toMatchObject({ state: 'EXPIRED' });
  });

  it('has the keys of one organization only, and reads all again for another', async () => {
    const copy = new Copy();
    await whileSyncing(
      copy,
      async () => {
        await untilSame(copy, 'globex');
        await changeEverything();
        await t.update('g1', { alias: 'changed' });
        await untilSame(copy, 'globex');
      },
      { orgID: 'globex' },
    );
    expect([...copy.keys.keys()]).toEqual([hashOf('g1')]);
    await whileSyncing(copy, () => untilSame(copy));
    await asAdapter(['read', 'deliver'], 'globex');
    await whileSyncing(copy, () => untilSame(copy, 'globex'), { snapshotEveryMs: 0 });
    expect([...copy.keys.keys()]).toEqual([hashOf('g1')]);
  });
});

describe('sync, stopped at each stage', () => {
  it('has everything in the end, wherever the adapter is stopped', async () => {
    let stages = 0;
    for (let crashAt = 1; stages === 0; crashAt += 1) {
      t = await startApp();
      await t.importKeys(...initial);
      await asAdapter();
      const copy = new Copy();
      copy.keys.set('ghost', ghost);
      copy.crashAt = crashAt;
      await whileSyncing(copy, async () => {
        await untilSame(copy);
        await changeEverything();
        await untilSame(copy);
      });
      await t.close();
      if (copy.crashes === 0) stages = crashAt;
    }
    expect(stages).toBeGreaterThan(15);
  });

  it('has everything in the end, wherever the service is restarted, while keys are changed', async () => {
    let stages = 0;
    for (let restartAt = 1; stages === 0; restartAt += 1) {
      const settings = { KEYFRONT_DATA: await temporaryFolder() };
      // Identifiers that no earlier run of the service has generated.
      const overrides = { randomHex: () => randomBytes(16).toString('hex') };
      t = await startApp(settings, overrides);
      const many = Array.from({ length: 250 }, (_, index) => ({ key_id: `m${index}`, org_id: 'acme' }));
      await t.importKeys(...initial, ...many);
      await asAdapter();
      let requests = 0;
      let restarting: Promise<void> | undefined;
      const restart = async () => {
        await t.close();
        t = await startApp(settings, overrides);
      };
      const client = clientOf(async (input, init) => {
        requests += 1;
        if (requests === restartAt) restarting = inTurn(restart);
        if (restarting) await restarting;
        if (requests === restartAt) throw new TypeError('fetch failed');
        return t.app.fetch(new Request(input, init));
      });
      const copy = new Copy();
      await whileSyncing(
        copy,
        async () => {
          await until(() => copy.keys.size > 0);
          await changeEverything();
          await until(() => copy.saved !== undefined);
          await change('patchOrgKey(keyID: "m7", patch: {alias: "changed"}) { version }');
          await until(() => copy.keys.get(hashOf('m7'))?.version === 2);
          await untilSame(copy);
        },
        {},
        client,
      );
      await t.close();
      if (requests < restartAt) stages = restartAt;
    }
    // The first subscription, three pages, the second subscription, and no further request.
    expect(stages).toBeGreaterThan(5);
  });
});

describe('a place that is lost', () => {
  beforeEach(async () => {
    t = await startOwnApp();
    await t.importKeys(...initial);
    await asAdapter();
  });

  it.each([
    ['is of another database', () => ({ cursor: Buffer.from('1.9999999.').toString('base64url') })],
    ['is no cursor', () => ({ cursor: 'x' })],
    ['is a day old', () => ({ snapshotAt: Date.now() - 86_400_000 })],
    ['is of the future, because the clock was wrong', () => ({ snapshotAt: Date.now() + 2 * 86_400_000 })],
    ['is of a copy of another organization', () => ({ orgID: 'acme' })],
  ])('is found by a new snapshot, which removes what is gone, if it %s', async (_, changes) => {
    const copy = new Copy();
    await whileSyncing(copy, () => untilSame(copy));
    await until(() => copy.saved !== undefined);
    copy.saved = JSON.stringify({ ...(JSON.parse(copy.saved ?? '') as object), ...changes() });
    copy.keys.set('ghost', ghost);
    copy.keys.delete(hashOf('k1'));
    await whileSyncing(copy, () => untilSame(copy));
  });

  it.each(['', 'null', '7', '{}', 'not JSON', '{"cursor":1}'])('is none in the checkpoint %j', async (saved) => {
    const copy = new Copy();
    copy.saved = saved;
    await whileSyncing(copy, () => untilSame(copy));
  });

  it('is found again when an event does not say which key it is about', async () => {
    const folder = await temporaryFolder();
    t = await startOwnApp({ KEYFRONT_DATA: folder });
    await t.importKeys(...initial);
    await asAdapter();
    const copy = new Copy();
    await whileSyncing(copy, () => untilSame(copy));
    await until(() => copy.saved !== undefined);
    await t.update('k1', { alias: 'changed' });
    tamper(
      join(folder, 'keyfront.db'),
      `UPDATE history SET request_id = 'another' WHERE id = (SELECT max(id) FROM history)`,
    );
    await whileSyncing(copy, () => untilSame(copy));
    expect(copy.keys.get(hashOf('k1'))).toMatchObject({ version: 2 });
  });
});

describe('a key that cannot be read', () => {
  it('stays in the copy as it was, in a snapshot and in a change, and the others follow', async () => {
    const folder = await temporaryFolder();
    t = await startOwnApp({ KEYFRONT_DATA: folder });
    await t.importKeys(...initial);
    await asAdapter();
    const copy = new Copy();
    await whileSyncing(copy, () => untilSame(copy));
    const before = copy.keys.get(hashOf('k2'));
    await t.update('k2', { alias: 'changed' });
    tamper(
      join(folder, 'keyfront.db'),
      "UPDATE keys SET definition = replace(definition, '}', ',\"rate\":9}') WHERE alias = 'changed'",
    );
    await t.update('k3', { alias: 'other' });
    for (const options of [{}, { snapshotEveryMs: 0 }]) {
      const reports = copy.unreadable.length;
      await whileSyncing(
        copy,
        () => until(() => copy.keys.get(hashOf('k3'))?.version === 2 && copy.unreadable.length > reports),
        options,
      );
      expect(copy.keys.get(hashOf('k2'))).toEqual(before);
    }
    expect(new Set(copy.unreadable)).toEqual(new Set([hashOf('k2')]));
  });
});

describe('sync ends', () => {
  beforeEach(async () => {
    t = await startOwnApp();
    await t.importKeys(...initial);
  });

  it.each([['read'], ['deliver']] as const)(
    'with FORBIDDEN for a credential with the scope %s alone',
    async (scope) => {
      await asAdapter([scope]);
      const copy = new Copy();
      await expect(sync(clientOf(), copy.options)).rejects.toMatchObject({ code: 'FORBIDDEN' });
      expect(copy.keys.size).toBe(0);
      expect(copy.saved).toBeUndefined();
    },
  );

  it('with FORBIDDEN at the next change, if it lost the scope since', async () => {
    await asAdapter();
    const copy = new Copy();
    await whileSyncing(copy, () => untilSame(copy));
    await asAdapter(['read']);
    await t.update('k1', { alias: 'changed' });
    await expect(sync(clientOf(), copy.options)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('with UNAUTHENTICATED for a credential that is not valid', async () => {
    service = 'kf_svc_nonsense';
    await expect(sync(clientOf(), new Copy().options)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('with what the adapter throws, and without an error when it is aborted', async () => {
    await asAdapter();
    const fault = new Error('The disk is full.');
    const failing = { ...new Copy().options, onUpsert: () => Promise.reject(fault) };
    await expect(sync(clientOf(), failing)).rejects.toBe(fault);
    const over = new AbortController();
    over.abort();
    await expect(sync(clientOf(), { ...new Copy().options, signal: over.signal })).resolves.toBeUndefined();
    const later = new AbortController();
    const unreachable = clientOf(() => Promise.reject(new TypeError('fetch failed')));
    const ending = sync(unreachable, { ...new Copy().options, signal: later.signal });
    later.abort();
    await expect(ending).resolves.toBeUndefined();
  });
});
