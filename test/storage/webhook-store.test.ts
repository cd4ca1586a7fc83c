import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openServices, type Services } from '../../src/storage/open-storage.js';
import { readConfig } from '../../src/config/config.js';
import { maxWebhooks, type WebhookStore } from '../../src/webhooks/webhook.js';
import { aDeadLetter, aRetryState, aWebhook } from '../support/factories.js';
import { describeEngines, type EnginePlace } from '../support/engines.js';
import { tamper } from '../support/tamper.js';

const at = new Date('2026-01-31T12:00:00Z');
describeEngines('the webhook store', (engine) => {
  let place: EnginePlace;
  let installations: Services[];
  let store: WebhookStore;
  const open = async () => {
    const { config, secrets } = readConfig(place.env);
    const installation = await openServices(config, secrets, {}, { access: 'create' });
    installations.push(installation);
    return installation;
  };
  beforeEach(async () => {
    place = await engine.make();
    installations = [];
    store = (await open()).webhooks;
  });
  afterEach(async () => {
    for (const installation of installations) await installation.close();
    await place.remove();
  });

  it('returns exactly what was added and changed', async () => {
    const full = aWebhook('a', {
      label: 'Bücher \u{1f4da}',
      orgID: 'acme',
      previous: { sealedSecret: Buffer.of(5), until: new Date(at.getTime() + 1) },
      paused: { at, why: 'a reason' },
    });
    await store.add(full, 'cursor');
    await store.add(aWebhook('b', { created: new Date(at.getTime() + 1) }), 'cursor');
    const second = aWebhook('b', { created: new Date(at.getTime() + 1) });
    expect(await store.list()).toStrictEqual([full, second]);
    const next = await store.change('a', (found) => ({ ...found, paused: undefined, previous: undefined }));
    expect(next?.paused).toBeUndefined();
    expect((await store.list())[0]).toMatchObject({ paused: undefined, previous: undefined, orgID: 'acme' });
    // A change of nothing is none.
    expect(await store.change('a', (found) => found)).toBeDefined();
    expect(await store.change('unknown', (found) => found)).toBeUndefined();
  });

  it('leases a webhook to one process at a time, and to the next one after its release or its end', async () => {
    const other = (await open()).webhooks;
    await store.add(aWebhook('a'), 'start');
    await store.add(aWebhook('p', { paused: { at, why: 'x' } }), 'start');
    const ids = async (from: WebhookStore, holder: string, forMs: number) =>
      (await from.acquireLeases(holder, forMs)).held.map((held) => `${held.webhook.id} ${held.cursor}`);
    expect(await ids(store, 'one', 60_000)).toStrictEqual(['a start']);
    expect(await ids(other, 'two', 60_000)).toStrictEqual([]);
    // The holder may renew the lease.
    expect(await ids(store, 'one', 60_000)).toStrictEqual(['a start']);
    expect(await store.recordResults('one', 'a', { cursor: 'further' })).toBe(true);
    expect(await other.recordResults('two', 'a', { cursor: 'wrong' })).toBe(false);
    await store.releaseLeases('one');
    expect(await ids(other, 'two', 200)).toStrictEqual(['a further']);
    expect(
      await store.recordResults('one', 'a', { cursor: 'late', failing: [aRetryState('h')], dead: [aDeadLetter('e')] }),
    ).toBe(false);
    expect(await store.retryStates('a')).toStrictEqual([]);
    await wait(250);
    expect(await other.recordResults('two', 'a', { cursor: 'late' })).toBe(false);
    expect(await ids(store, 'one', 60_000)).toStrictEqual(['a further']);
  });

  it.each([
    ['a change', (id: string) => store.change(id, (found) => ({ ...found, label: 'another' }))],
    ['a removal', (id: string) => store.remove(id)],
  ])('recalls the lease with %s, and leases again when the holder has released it', async (_name, command) => {
    const other = (await open()).webhooks;
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 60_000);
    expect(await store.hasLease('one', 'a')).toBe(true);
    expect(await store.isRecalled('a')).toBe(false);
    await command('a');
    const isThere = (await store.list()).length === 1;
    expect(await other.isRecalled('a')).toBe(true);
    expect(await store.hasLease('one', 'a')).toBe(false);
    const recalled = isThere ? ['a'] : [];
    expect(await store.acquireLeases('one', 60_000)).toStrictEqual({ held: [], recalled, damaged: [] });
    expect(await other.acquireLeases('two', 60_000)).toStrictEqual({ held: [], recalled: [], damaged: [] });
    // What was delivered until then is still written, but not for a webhook that is gone.
    expect(await store.recordResults('one', 'a', { cursor: 'further' })).toBe(isThere);
    await other.releaseRecalled('two', 'a');
    expect(await other.isRecalled('a')).toBe(true);
    await store.releaseRecalled('one', 'a');
    expect(await other.isRecalled('a')).toBe(false);
    const { held } = await other.acquireLeases('two', 60_000);
    expect(held).toMatchObject(isThere ? [{ cursor: 'further', webhook: { label: 'another' } }] : []);
    // The release of another lease is none.
    await other.releaseRecalled('two', 'a');
    expect(await other.hasLease('two', 'a')).toBe(isThere);
  });

  it('ends a recalled lease with its duration, or when its holder releases all', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 60_000);
    await store.change('a', (found) => ({ ...found, label: 'second' }));
    await store.releaseLeases('one');
    expect(await store.isRecalled('a')).toBe(false);
    await store.acquireLeases('two', 30);
    await store.change('a', (found) => ({ ...found, label: 'third' }));
    while (await store.isRecalled('a')) await wait(5);
    expect((await store.acquireLeases('three', 60_000)).held).toMatchObject([{ webhook: { label: 'third' } }]);
  });

  it('does not recall the lease when nothing is changed', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 60_000);
    await store.change('a', (found) => found);
    expect(await store.hasLease('one', 'a')).toBe(true);
  });

  it('leases to one of many concurrent holders', async () => {
    const others = await Promise.all(Array.from({ length: 3 }, open));
    await store.add(aWebhook('a'), 'start');
    const held = await Promise.all(
      [store, ...others.map(({ webhooks }) => webhooks)].map((from, index) =>
        from.acquireLeases(`holder ${index}`, 60_000),
      ),
    );
    expect(held.filter((found) => found.held.length === 1)).toHaveLength(1);
  });

  it('records the results of deliveries together or not at all', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 60_000);
    const [first, second] = [aRetryState('h1'), aRetryState('h2', { dueMs: 500, lastError: '', attempts: 0 })];
    expect(
      await store.recordResults('one', 'a', { cursor: 'c1', failing: [first, second], dead: [aDeadLetter('e1')] }),
    ).toBe(true);
    expect(await store.retryStates('a')).toStrictEqual([second, first]);
    expect(await store.deliveryStats()).toStrictEqual([{ webhookID: 'a', retryingKeys: 2, deadLetters: 1 }]);
    const later = { ...first, nextVersion: 3, attempts: 2 };
    await store.recordResults('one', 'a', {
      failing: [later],
      done: ['h2'],
      dead: [aDeadLetter('e1', { attempts: 31 })],
    });
    expect(await store.retryStates('a')).toStrictEqual([later]);
    expect(await store.deadLetters({ webhookID: 'a' }, 10)).toStrictEqual([aDeadLetter('e1', { attempts: 31 })]);
    expect((await store.acquireLeases('one', 60_000)).held[0]?.cursor).toBe('c1');
  });

  it('replays and discards one dead letter or all of a webhook', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 60_000);
    const letters = ['e1', 'e2', 'e3'].map((eventID, index) =>
      aDeadLetter(eventID, { diedAt: new Date(at.getTime() + index) }),
    );
    await store.recordResults('one', 'a', { dead: letters });
    expect(await store.dueReplays('a', 10_000, 10)).toStrictEqual([]);
    expect(await store.replay({ webhookID: 'a', eventID: 'e2' }, 5_000)).toBe(1);
    expect(await store.dueReplays('a', 4_999, 10)).toStrictEqual([]);
    expect(await store.dueReplays('a', 5_000, 10)).toMatchObject([{ eventID: 'e2', attempts: 0, dueMs: 5_000 }]);
    expect(await store.replay({ webhookID: 'a' }, 6_000)).toBe(2);
    expect((await store.dueReplays('a', 9_000, 2)).map(({ eventID }) => eventID)).toStrictEqual(['e2', 'e1']);
    await store.recordResults('one', 'a', { redriven: ['e1'] });
    expect(await store.discard({ webhookID: 'a', eventID: 'e2' })).toBe(1);
    expect(await store.discard({ webhookID: 'b' })).toBe(0);
    expect((await store.deadLetters({ webhookID: 'a' }, 10)).map(({ eventID }) => eventID)).toStrictEqual(['e3']);
    expect(await store.discard({ webhookID: 'a' })).toBe(1);
  });

  it('recalls the lease when a dead letter is discarded, and then keeps no failed replay of it', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 60_000);
    await store.recordResults('one', 'a', { dead: [aDeadLetter('e1'), aDeadLetter('e2')] });
    expect(await store.discard({ webhookID: 'a', eventID: 'unknown' })).toBe(0);
    expect(await store.hasLease('one', 'a')).toBe(true);
    expect(await store.discard({ webhookID: 'a', eventID: 'e1' })).toBe(1);
    expect(await store.hasLease('one', 'a')).toBe(false);
    expect(await store.isRecalled('a')).toBe(true);
    const replayFailed = ['e1', 'e2'].map((eventID) => aDeadLetter(eventID, { attempts: 31, dueMs: 7_000 }));
    expect(await store.recordResults('one', 'a', { replayFailed })).toBe(true);
    expect(await store.deadLetters({ webhookID: 'a' }, 10)).toStrictEqual(replayFailed.slice(1));
  });

  it('rejects one more webhook than the maximum', async () => {
    for (let index = 0; index < maxWebhooks; index += 1) await store.add(aWebhook(`w${index}`), 'start');
    await expect(store.add(aWebhook('more'), 'start')).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await store.list()).toHaveLength(maxWebhooks);
    expect(await store.remove('w0')).toBe(true);
    await store.add(aWebhook('more'), 'start');
  });

  it('delivers to no webhook that was inserted by another program', async () => {
    await store.add(aWebhook('a', { orgID: 'acme' }), 'start');
    await store.add(aWebhook('b', { created: new Date(at.getTime() + 1) }), 'start');
    const statement = `UPDATE webhooks SET org_id = NULL WHERE id = 'a'`;
    if (place.database) await place.database.run(`ALTER TABLE webhooks DISABLE TRIGGER USER; ${statement}`);
    else tamper(join(place.folder, 'keyfront.db'), statement);
    const { held, damaged } = await store.acquireLeases('one', 60_000);
    expect(held.map((one) => one.webhook.id)).toStrictEqual(['b']);
    expect(damaged).toStrictEqual(['a']);
    expect(await store.damaged()).toStrictEqual(['a']);
    expect((await store.list()).map(({ id }) => id)).toStrictEqual(['b']);
    await expect(store.change('a', (found) => found)).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(await store.remove('a')).toBe(true);
    expect(await store.list()).toHaveLength(1);
  });
});
