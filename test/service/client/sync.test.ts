import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { recordExpiryNotices } from '../../../src/keys/expiry-notices.js';
import { sync } from '../../../src/client/client.js';
import { startOwnApp } from '../../support/app.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../../support/engines.js';
import { hashOf } from '../../support/factories.js';
import { newestCursor } from '../../support/feed.js';
import { temporaryFolder } from '../../support/folder.js';
import { sendRequest } from '../../support/responses.js';
import { Copy, ghost, initial, SyncedService } from '../../support/synced-service.js';
import { tamper } from '../../support/tamper.js';
import { until } from '../../support/until.js';

let s: SyncedService;

describeEngines('sync', (engine) => {
  let place: EnginePlace;
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    s = new SyncedService(await startOwnApp(place.env));
    await s.t.importKeys(...initial, { key_id: 'g1', org_id: 'globex' });
    await s.asAdapter();
  });

  it('copies all keys, removes those that are gone, and follows every kind of change', async () => {
    const copy = new Copy();
    copy.keys.set('ghost', ghost);
    await s.whileSyncing(copy, async () => {
      await s.untilSame(copy);
      await s.changeEverything();
      await s.untilSame(copy);
      expect(copy.keys.get(hashOf('k4'))).toMatchObject({ rotation: { oldKeyID: 'k4' } });
      s.t.clock.now = new Date(s.t.clock.now.getTime() + 2 * 86_400_000);
      await s.retire();
      await until(() => copy.keys.get(hashOf('k4'))?.rotation === null, 'The retirement');
      await s.untilSame(copy);
    });
  });

  it('continues at its checkpoint after changes that were made while it did not run', async () => {
    const copy = new Copy();
    await newestCursor(s.t, place);
    await s.whileSyncing(copy, () => s.untilSame(copy));
    await until(() => copy.saved !== undefined);
    await s.changeEverything();
    const before = copy.calls.length;
    await s.whileSyncing(copy, () => s.untilSame(copy));
    // It read no key that was not changed.
    expect(copy.keys.get(hashOf('g1'))).toBeDefined();
    expect(copy.calls.slice(before).filter((call) => call === 'upsert').length).toBeLessThan(8);
  });

  it('removes a key that was purged while it did not run, and shows one that has expired', async () => {
    await s.t.importKeys({ key_id: 'short', org_id: 'acme', expires: s.t.clock.now.getTime() / 1000 + 60 });
    await recordExpiryNotices(s.t.app.services, []);
    const copy = new Copy();
    await s.whileSyncing(copy, () => s.untilSame(copy));
    await sendRequest(s.t, 'DELETE', '/svc/org/keys/k2');
    s.t.clock.now = new Date(s.t.clock.now.getTime() + 120_000);
    await recordExpiryNotices(s.t.app.services, []);
    s.t.clock.now = new Date(s.t.clock.now.getTime() + 31 * 86_400_000);
    expect(await s.t.app.services.store.purge(new Date(s.t.clock.now.getTime() - 86_400_000), s.t.clock.now)).toBe(1);
    await s.whileSyncing(copy, () => s.untilSame(copy));
    expect(copy.keys.has(hashOf('k2'))).toBe(false);
    expect(copy.keys.get(hashOf('short'))).toMatchObject({ state: 'EXPIRED' });
  });

  it('has the keys of one organization only, and reads all again for another', async () => {
    const copy = new Copy();
    await s.whileSyncing(
      copy,
      async () => {
        await s.untilSame(copy, 'globex');
        await s.changeEverything();
        await s.t.update('g1', { alias: 'changed' });
        await s.untilSame(copy, 'globex');
      },
      { orgID: 'globex' },
    );
    expect([...copy.keys.keys()]).toEqual([hashOf('g1')]);
    await s.whileSyncing(copy, () => s.untilSame(copy));
    await s.asAdapter(['read', 'deliver'], 'globex');
    await s.whileSyncing(copy, () => s.untilSame(copy, 'globex'), { snapshotEveryMs: 0 });
    expect([...copy.keys.keys()]).toEqual([hashOf('g1')]);
  });
});

describe('a place that is lost', () => {
  beforeEach(async () => {
    s = new SyncedService(await startOwnApp());
    await s.t.importKeys(...initial);
    await s.asAdapter();
  });

  it.each([
    ['is of another database', () => ({ cursor: Buffer.from('1.9999999.').toString('base64url') })],
    ['is no cursor', () => ({ cursor: 'x' })],
    ['is a day old', () => ({ snapshotAt: Date.now() - 86_400_000 })],
    ['is of the future, because the clock was wrong', () => ({ snapshotAt: Date.now() + 2 * 86_400_000 })],
    ['is of a copy of another organization', () => ({ orgID: 'acme' })],
  ])('is found by a new snapshot, which removes what is gone, if it %s', async (_, changes) => {
    const copy = new Copy();
    await s.whileSyncing(copy, () => s.untilSame(copy));
    await until(() => copy.saved !== undefined);
    copy.saved = JSON.stringify({ ...(JSON.parse(copy.saved ?? '') as object), ...changes() });
    copy.keys.set('ghost', ghost);
    copy.keys.delete(hashOf('k1'));
    await s.whileSyncing(copy, () => s.untilSame(copy));
  });

  it.each(['', 'null', '7', '{}', 'not JSON', '{"cursor":1}'])('is none in the checkpoint %j', async (saved) => {
    const copy = new Copy();
    copy.saved = saved;
    await s.whileSyncing(copy, () => s.untilSame(copy));
  });

  it('is found again when an event does not say which key it is about', async () => {
    const folder = await temporaryFolder();
    s = new SyncedService(await startOwnApp({ KEYFRONT_DATA: folder }));
    await s.t.importKeys(...initial);
    await s.asAdapter();
    const copy = new Copy();
    await s.whileSyncing(copy, () => s.untilSame(copy));
    await until(() => copy.saved !== undefined);
    await s.t.update('k1', { alias: 'changed' });
    tamper(
      join(folder, 'keyfront.db'),
      `UPDATE history SET request_id = 'another' WHERE id = (SELECT max(id) FROM history)`,
    );
    await s.whileSyncing(copy, () => s.untilSame(copy));
    expect(copy.keys.get(hashOf('k1'))).toMatchObject({ version: 2 });
  });
});

describe('a key that cannot be read', () => {
  it('stays in the copy as it was, in a snapshot and in a change, and the others follow', async () => {
    const folder = await temporaryFolder();
    s = new SyncedService(await startOwnApp({ KEYFRONT_DATA: folder }));
    await s.t.importKeys(...initial);
    await s.asAdapter();
    const copy = new Copy();
    await s.whileSyncing(copy, () => s.untilSame(copy));
    const before = copy.keys.get(hashOf('k2'));
    await s.t.update('k2', { alias: 'changed' });
    tamper(
      join(folder, 'keyfront.db'),
      "UPDATE keys SET definition = replace(definition, '}', ',\"rate\":9}') WHERE alias = 'changed'",
    );
    await s.t.update('k3', { alias: 'other' });
    for (const options of [{}, { snapshotEveryMs: 0 }]) {
      const reports = copy.unreadable.length;
      await s.whileSyncing(
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
    s = new SyncedService(await startOwnApp());
    await s.t.importKeys(...initial);
  });

  it.each([['read'], ['deliver']] as const)(
    'with FORBIDDEN for a credential with the scope %s alone',
    async (scope) => {
      await s.asAdapter([scope]);
      const copy = new Copy();
      await expect(sync(s.clientOf(), copy.options)).rejects.toMatchObject({ code: 'FORBIDDEN' });
      expect(copy.keys.size).toBe(0);
      expect(copy.saved).toBeUndefined();
    },
  );

  it('with FORBIDDEN at the next change, if it lost the scope since', async () => {
    await s.asAdapter();
    const copy = new Copy();
    await s.whileSyncing(copy, () => s.untilSame(copy));
    await s.asAdapter(['read']);
    await s.t.update('k1', { alias: 'changed' });
    await expect(sync(s.clientOf(), copy.options)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('with UNAUTHENTICATED for a credential that is not valid', async () => {
    s.service = 'kf_svc_nonsense';
    await expect(sync(s.clientOf(), new Copy().options)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('with what the adapter throws, and without an error when it is aborted', async () => {
    await s.asAdapter();
    const fault = new Error('The disk is full.');
    const failing = { ...new Copy().options, onUpsert: () => Promise.reject(fault) };
    await expect(sync(s.clientOf(), failing)).rejects.toBe(fault);
    const over = new AbortController();
    over.abort();
    await expect(sync(s.clientOf(), { ...new Copy().options, signal: over.signal })).resolves.toBeUndefined();
    const later = new AbortController();
    const unreachable = s.clientOf(() => Promise.reject(new TypeError('fetch failed')));
    const ending = sync(unreachable, { ...new Copy().options, signal: later.signal });
    later.abort();
    await expect(ending).resolves.toBeUndefined();
  });
});
