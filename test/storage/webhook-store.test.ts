import { beforeEach, expect, it } from 'vitest';
import { createWebhookStore } from '../../src/storage/sql/webhook-store.js';
import { maxCounted, maxWebhooks, type WebhookStore } from '../../src/webhooks/webhook.js';
import { aDeadLetter, aPendingDelivery, aWebhook } from '../support/factories.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../support/engines.js';
import { signer } from '../support/signer.js';
import { openOwnServices, openOwnSession } from '../support/storage.js';
import { until } from '../support/until.js';

const at = new Date('2026-01-31T12:00:00Z');
const enqueued = { spans: ['h1', 'h2'].map((keyHash) => ({ keyHash, version: 2, lastVersion: 4 })), dueMs: 1_000 };

describeEngines('the webhook store', (engine) => {
  let place: EnginePlace;
  let store: WebhookStore;
  const open = async () => (await openOwnServices(place)).webhooks;
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    store = await open();
  });

  const next = () => store.nextDeliveries('a', 10, 'any');

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
    expect(await store.list()).toStrictEqual({ intact: [full, second], damaged: [] });
    const next = await store.change('a', (found) => ({ ...found, paused: undefined, previous: undefined }));
    expect(next?.paused).toBeUndefined();
    expect((await store.list()).intact[0]).toMatchObject({ paused: undefined, previous: undefined, orgID: 'acme' });
    // A change of nothing is none.
    expect(await store.change('a', (found) => found)).toBeDefined();
    expect(await store.change('unknown', (found) => found)).toBeUndefined();
  });

  it('leases a webhook to one process at a time, and to the next one after its release or its end', async () => {
    const other = await open();
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
    expect(await store.recordResults('one', 'a', { cursor: 'late', enqueued, dead: aDeadLetter('e') })).toBe(false);
    expect(await store.nextDeliveries('a', 10, 'any')).toStrictEqual([]);
    expect(await store.deadLetters({ webhookID: 'a' }, 10)).toStrictEqual([]);
    await until(async () => !(await other.hasLease('two', 'a')));
    expect(await other.recordResults('two', 'a', { cursor: 'late' })).toBe(false);
    expect(await ids(store, 'one', 60_000)).toStrictEqual(['a further']);
  });

  it.each([
    ['a change', (id: string) => store.change(id, (found) => ({ ...found, label: 'another' }))],
    ['a removal', (id: string) => store.remove(id)],
  ])('recalls the lease with %s, and leases again when the holder has released it', async (_name, command) => {
    const other = await open();
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 60_000);
    expect(await store.hasLease('one', 'a')).toBe(true);
    expect(await store.isRecalled('a')).toBe(false);
    await command('a');
    const isThere = (await store.list()).intact.length === 1;
    expect(await other.isRecalled('a')).toBe(true);
    expect(await store.hasLease('one', 'a')).toBe(false);
    expect(await store.acquireLeases('one', 60_000)).toStrictEqual({ held: [], recalled: ['a'], damaged: [] });
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
    await until(async () => !(await store.isRecalled('a')));
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
      [store, ...others].map((from, index) => from.acquireLeases(`holder ${index}`, 60_000)),
    );
    expect(held.filter((found) => found.held.length === 1)).toHaveLength(1);
  });

  it('keeps the events of a page with the cursor, one delivery for each key', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 60_000);
    expect(await store.recordResults('one', 'a', { cursor: 'c1', enqueued })).toBe(true);
    expect((await store.acquireLeases('one', 60_000)).held[0]?.cursor).toBe('c1');
    const [first, second] = [aPendingDelivery('h1'), aPendingDelivery('h2')];
    expect(await next()).toStrictEqual([first, second]);
    // Later events wait behind the first; versions that do not follow are of a key that was created again.
    const failed = { ...first, attempts: 1, dueMs: 500, failedAt: at, lastError: 'returned 500' };
    await store.recordResults('one', 'a', { failed });
    const spans = [
      { keyHash: 'h1', version: 5, lastVersion: 6 },
      { keyHash: 'h2', version: 1, lastVersion: 1 },
    ];
    await store.recordResults('one', 'a', { enqueued: { spans, dueMs: 2_000 } });
    const created = aPendingDelivery('h2', { version: 1, lastVersion: 1, dueMs: 2_000 });
    expect(await next()).toStrictEqual([{ ...failed, lastVersion: 6 }, created]);
    // A result for the events before is none for those after.
    await store.recordResults('one', 'a', { removed: second });
    expect(await next()).toHaveLength(2);
  });

  it('records the results of deliveries', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 60_000);
    await store.recordResults('one', 'a', { enqueued });
    const [first, second] = [aPendingDelivery('h1'), aPendingDelivery('h2')];
    const failed = { ...first, attempts: 1, dueMs: 9_000, failedAt: at, lastError: 'returned 500' };
    await store.recordResults('one', 'a', { failed });
    expect(await next()).toStrictEqual([second, failed]);
    expect(await store.nextDeliveries('a', 10, 'retry')).toStrictEqual([failed]);
    expect(await store.nextDeliveries('a', 10, 'first')).toStrictEqual([second]);
    expect(await store.deliveryStats()).toStrictEqual([{ webhookID: 'a', retryingKeys: 1, deadLetters: 0 }]);
    await store.recordResults('one', 'a', { advanced: { ...second, dueMs: 2_000 } });
    expect(await store.bringForward('a', 'retry', 3_000, 3_000)).toBe(1);
    const third = { ...second, version: 3, dueMs: 2_000 };
    expect(await next()).toStrictEqual([third, { ...failed, dueMs: 3_000 }]);
    const dead = aDeadLetter('e1', { keyHash: 'h1', version: 2, lastVersion: 2 });
    await store.recordResults('one', 'a', { advanced: { ...failed, dueMs: 4_000 }, dead });
    expect(await next()).toStrictEqual([third, { ...first, version: 3, dueMs: 4_000 }]);
    expect(await store.deadLetters({ webhookID: 'a' }, 10)).toStrictEqual([dead]);
    await store.recordResults('one', 'a', { advanced: third });
    // It has been advanced already.
    await store.recordResults('one', 'a', { advanced: third });
    const last = { ...third, version: 4 };
    expect((await next())[0]).toStrictEqual(last);
    await store.recordResults('one', 'a', { advanced: last, removed: { ...first, version: 3 } });
    expect(await next()).toStrictEqual([]);
    expect(await store.deliveryStats()).toStrictEqual([{ webhookID: 'a', retryingKeys: 0, deadLetters: 1 }]);
  });

  it('brings forward the deliveries of a kind that are due after a time, however many there are', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.add(aWebhook('b'), 'start');
    for (const id of ['a', 'b']) {
      const spans = Array.from({ length: 1_200 }, (_, n) => ({ keyHash: `h${n}`, version: 1, lastVersion: 1 }));
      await store.acquireLeases('one', 60_000);
      await store.recordResults('one', id, { enqueued: { spans, dueMs: 9_000 } });
    }
    const failed = aPendingDelivery('h7', { version: 1, lastVersion: 1, attempts: 1, dueMs: 8_000, failedAt: at });
    await store.recordResults('one', 'a', { failed });
    expect(await store.bringForward('a', 'first', 9_000, 5_000)).toBe(0);
    expect(await store.bringForward('a', 'first', 8_999, 5_000)).toBe(1_199);
    const dueOf = async (id: string, kind: 'first' | 'retry') =>
      new Set((await store.nextDeliveries(id, 2_000, kind)).map(({ dueMs }) => dueMs));
    expect([await dueOf('a', 'first'), await dueOf('a', 'retry')]).toStrictEqual([new Set([5_000]), new Set([8_000])]);
    expect(await store.bringForward('a', 'retry', 7_000, 6_000)).toBe(1);
    expect([await dueOf('a', 'retry'), await dueOf('b', 'first')]).toStrictEqual([new Set([6_000]), new Set([9_000])]);
  });

  it('adds a webhook with an ID once, and only if that is permitted', async () => {
    const counts: number[] = [];
    const permit = (count: number) => void counts.push(count);
    const first = aWebhook('a', { orgID: 'acme' });
    expect(await store.add(first, 'start', permit)).toBe(first);
    expect(await store.add(aWebhook('a', { label: 'other' }), 'start', permit)).toStrictEqual(first);
    await store.add(aWebhook('b'), 'start', permit);
    await store.add(aWebhook('c', { orgID: 'acme' }), 'start', permit);
    // Not for the second one, which was there.
    expect(counts).toStrictEqual([0, 0, 1]);
    const reject = () => {
      throw new Error('not permitted');
    };
    await expect(store.add(aWebhook('d'), 'start', reject)).rejects.toThrow('not permitted');
    await expect(store.change('a', (found) => ({ ...found, label: 'x' }), reject)).rejects.toThrow('not permitted');
    await expect(store.remove('a', reject)).rejects.toThrow('not permitted');
    const { intact } = await store.list();
    expect(intact.map(({ id, label }) => `${id} ${label}`)).toStrictEqual(['a a label', 'b a label', 'c a label']);
  });

  it('lists the webhooks whose rows name an organization, damaged ones too', async () => {
    for (const id of ['a', 'b', 'c']) await store.add(aWebhook(id, id === 'b' ? {} : { orgID: 'acme' }), 'start');
    await place.tamper(`UPDATE webhooks SET label = 'forged' WHERE id IN ('b', 'c')`);
    const ids = async (orgID?: string) => {
      const { intact, damaged } = await store.list(orgID);
      return [intact.map(({ id }) => id), damaged];
    };
    expect(await ids()).toStrictEqual([['a'], ['b', 'c']]);
    expect(await ids('acme')).toStrictEqual([['a'], ['c']]);
    for (const orgID of ['none', '', 'nul\0', '\ud800']) expect(await ids(orgID)).toStrictEqual([[], []]);
    const named: (string | undefined)[] = [];
    const note = (orgID: string | undefined) => void named.push(orgID);
    for (const id of ['b', 'c']) {
      await expect(store.change(id, (found) => found, note)).rejects.toMatchObject({ code: 'INTERNAL' });
      expect(await store.remove(id, note)).toBe(true);
    }
    expect(named).toStrictEqual([undefined, undefined, 'acme', 'acme']);
    expect(await ids()).toStrictEqual([['a'], []]);
  });

  it('reads the dead letters after a position', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 60_000);
    const letters = ['e3', 'e1', 'e2'].map((event, n) =>
      aDeadLetter(event, { failedAt: new Date(at.getTime() + (n === 2 ? 1 : 0)) }),
    );
    for (const dead of letters) await store.recordResults('one', 'a', { dead });
    const after = async (failedAt: Date, eventID: string) =>
      (await store.deadLetters({ webhookID: 'a' }, 2, { failedAt, eventID })).map((letter) => letter.eventID);
    expect((await store.deadLetters({ webhookID: 'a' }, 2)).map(({ eventID }) => eventID)).toStrictEqual(['e1', 'e3']);
    expect(await after(at, 'e1')).toStrictEqual(['e3', 'e2']);
    expect(await after(at, 'e3')).toStrictEqual(['e2']);
    expect(await after(new Date(at.getTime() + 1), 'e2')).toStrictEqual([]);
    expect(await after(at, 'nul\0')).toStrictEqual([]);
  });

  it('counts failing keys of some webhooks up to a limit', async () => {
    for (const id of ['a', 'b']) await store.add(aWebhook(id), 'start');
    await store.acquireLeases('one', 60_000);
    for (let page = 0; page < 11; page += 1) {
      const spans = Array.from({ length: 1_000 }, (_, n) => ({ keyHash: `${page}-${n}`, version: 1, lastVersion: 1 }));
      await store.recordResults('one', 'a', { enqueued: { spans, dueMs: 1 } });
    }
    await store.recordResults('one', 'b', { dead: aDeadLetter('e1') });
    await place.tamper('UPDATE webhook_deliveries SET attempts = 1');
    const [a, b] = [
      { webhookID: 'a', retryingKeys: maxCounted, deadLetters: 0 },
      { webhookID: 'b', retryingKeys: 0, deadLetters: 1 },
    ];
    expect(await store.deliveryStats()).toStrictEqual([a, b]);
    expect(await store.deliveryStats(['b', 'none', 'nul\0'])).toStrictEqual([b]);
    expect(await store.deliveryStats([])).toStrictEqual([]);
  });

  it('counts the dead letters of a webhook up to a limit', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.add(aWebhook('b'), 'start');
    await store.acquireLeases('one', 60_000);
    await store.recordResults('one', 'b', { dead: aDeadLetter('e0') });
    for (const event of ['e1', 'e2', 'e3'])
      await store.recordResults('one', 'a', { enqueued, dead: aDeadLetter(event) });
    expect(await Promise.all([2, 3, 4].map((limit) => store.countDeadLetters('a', limit)))).toStrictEqual([2, 3, 3]);
  });

  it('leases a webhook to another process if the lease lasts for days, because the clock was ahead', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 2 * 86_400_000);
    expect((await store.acquireLeases('two', 60_000)).held).toMatchObject([{ remainingMs: 60_000 }]);
    expect(await store.hasLease('one', 'a')).toBe(false);
    await store.releaseLeases('two');
    // The holder shortens it.
    await store.acquireLeases('one', 2 * 86_400_000);
    expect((await store.acquireLeases('one', 60_000)).held).toMatchObject([{ remainingMs: 60_000 }]);
    expect((await store.acquireLeases('two', 60_000)).held).toStrictEqual([]);
  });

  it('replays and discards one dead letter or all of a webhook', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 60_000);
    for (const [index, eventID] of ['e1', 'e2', 'e3'].entries()) {
      await store.recordResults('one', 'a', {
        dead: aDeadLetter(eventID, { failedAt: new Date(at.getTime() + index) }),
      });
    }
    expect(await next()).toStrictEqual([]);
    expect(await store.replay({ webhookID: 'a', eventID: 'e2' }, 5_000)).toBe(1);
    expect(await next()).toMatchObject([{ eventID: 'e2', attempts: 0, dueMs: 5_000 }]);
    expect(await store.nextDeliveries('a', 10, 'retry')).toHaveLength(1);
    expect(await store.nextDeliveries('a', 10, 'first')).toStrictEqual([]);
    expect(await store.replay({ webhookID: 'a' }, 6_000)).toBe(2);
    expect((await next()).map(({ eventID }) => eventID)[0]).toBe('e2');
    expect(await store.nextDeliveries('a', 2, 'any')).toHaveLength(2);
    await store.recordResults('one', 'a', { advanced: aDeadLetter('e1') });
    expect(await store.discard({ webhookID: 'a', eventID: 'e2' })).toBe(1);
    expect(await store.discard({ webhookID: 'b' })).toBe(0);
    expect((await store.deadLetters({ webhookID: 'a' }, 10)).map(({ eventID }) => eventID)).toStrictEqual(['e3']);
    expect(await store.discard({ webhookID: 'a' })).toBe(1);
  });

  it('recalls the lease when a dead letter is discarded, and then keeps no failed replay of it', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 60_000);
    for (const eventID of ['e1', 'e2']) await store.recordResults('one', 'a', { dead: aDeadLetter(eventID) });
    expect(await store.discard({ webhookID: 'a', eventID: 'unknown' })).toBe(0);
    expect(await store.hasLease('one', 'a')).toBe(true);
    expect(await store.discard({ webhookID: 'a', eventID: 'e1' })).toBe(1);
    expect(await store.hasLease('one', 'a')).toBe(false);
    expect(await store.isRecalled('a')).toBe(true);
    const [first, second] = ['e1', 'e2'].map((eventID) => aDeadLetter(eventID, { attempts: 31, dueMs: 7_000 }));
    for (const failed of [first, second]) {
      expect(await store.recordResults('one', 'a', failed ? { failed } : {})).toBe(true);
    }
    expect(await store.deadLetters({ webhookID: 'a' }, 10)).toStrictEqual([second]);
  });

  it('rejects one more webhook than the maximum', async () => {
    for (let index = 0; index < maxWebhooks; index += 1) await store.add(aWebhook(`w${index}`), 'start');
    await expect(store.add(aWebhook('more'), 'start')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'There are 50 webhooks already, which is the maximum.',
    });
    expect((await store.list()).intact).toHaveLength(maxWebhooks);
    expect(await store.remove('w0')).toBe(true);
    await store.add(aWebhook('more'), 'start');
  });

  it('adds no more webhooks than the maximum when processes add some at once', async () => {
    const other = await open();
    for (let index = 2; index < maxWebhooks; index += 1) await store.add(aWebhook(`w${index}`), 'start');
    const added = await Promise.allSettled(
      Array.from({ length: 6 }, (_, index) => (index % 2 ? store : other).add(aWebhook(`more ${index}`), 'start')),
    );
    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect((await store.list()).intact).toHaveLength(maxWebhooks);
  });

  it('returns webhooks by the time of their creation, and then by their identifiers', async () => {
    for (const id of ['c', 'b']) await store.add(aWebhook(id), 'start');
    await store.add(aWebhook('a', { created: new Date(at.getTime() + 1) }), 'start');
    const ids = ['b', 'c', 'a'];
    expect((await store.list()).intact.map(({ id }) => id)).toStrictEqual(ids);
    expect((await store.acquireLeases('one', 60_000)).held.map(({ webhook }) => webhook.id).toSorted()).toStrictEqual(
      ids.toSorted(),
    );
    expect((await store.acquireLeases('one', 60_000)).held.map(({ webhook }) => webhook.id)).toStrictEqual(ids);
  });

  it('finds nothing for identifiers that no stored text can be equal to', async () => {
    await store.add(aWebhook('a'), 'start');
    await store.acquireLeases('one', 60_000);
    await store.recordResults('one', 'a', { dead: aDeadLetter('e1') });
    expect(await store.change('a\0', (found) => found)).toBeUndefined();
    expect(await store.remove('a\0')).toBe(false);
    for (const filter of [{ webhookID: 'a\0' }, { webhookID: 'a', eventID: 'e1\0' }]) {
      expect(await store.deadLetters(filter, 10)).toStrictEqual([]);
      expect(await store.replay(filter, 5_000)).toBe(0);
      expect(await store.discard(filter)).toBe(0);
    }
    expect(await store.deadLetters({ webhookID: 'a' }, 10)).toHaveLength(1);
  });

  it('renews a lease in the second half of its duration only', async () => {
    await store.add(aWebhook('a'), 'start');
    const lease = async (forMs: number) => (await store.acquireLeases('one', forMs)).held[0]?.remainingMs;
    expect(await lease(600_000)).toBe(600_000);
    expect(await lease(500_000)).toBeGreaterThan(500_000);
    expect(await lease(3_600_000)).toBe(3_600_000);
  });

  it('delivers to no webhook that was inserted by another program', async () => {
    await store.add(aWebhook('a', { orgID: 'acme' }), 'start');
    await store.add(aWebhook('b', { created: new Date(at.getTime() + 1) }), 'start');
    await place.tamper(`UPDATE webhooks SET org_id = NULL WHERE id = 'a'`);
    const { held, damaged } = await store.acquireLeases('one', 60_000);
    expect(held.map((one) => one.webhook.id)).toStrictEqual(['b']);
    expect(damaged).toStrictEqual(['a']);
    expect(await store.list()).toMatchObject({ intact: [{ id: 'b' }], damaged: ['a'] });
    await expect(store.change('a', (found) => found)).rejects.toMatchObject({
      code: 'INTERNAL',
      message: 'The webhook a failed its integrity check; run `keyfront check` for details.',
    });
    expect(await store.remove('a')).toBe(true);
    expect((await store.list()).intact).toHaveLength(1);
  });
});

it.each([
  ['a change', (id: string, store: WebhookStore) => store.change(id, (found) => ({ ...found, label: 'new' }))],
  ['a removal', (id: string, store: WebhookStore) => store.remove(id)],
])('does not return a webhook whose lease %s recalls while it is acquired', async (_name, command) => {
  const { session } = openOwnSession();
  const other = createWebhookStore(session, signer);
  await other.add(aWebhook('a'), 'start');
  let change: (() => Promise<unknown>) | undefined = () => command('a', other);
  const run: typeof session.run = async (statement, values) => {
    const rows = await session.run<never>(statement, values);
    await change?.();
    change = undefined;
    return rows;
  };
  const store = createWebhookStore({ ...session, run }, signer);
  expect(await store.acquireLeases('one', 60_000)).toStrictEqual({ held: [], recalled: [], damaged: [] });
  expect(await store.acquireLeases('one', 60_000)).toStrictEqual({ held: [], recalled: ['a'], damaged: [] });
  await store.releaseRecalled('one', 'a');
  expect(await other.isRecalled('a')).toBe(false);
  const { held } = await store.acquireLeases('one', 60_000);
  expect(held.map(({ webhook }) => webhook.label)).toStrictEqual((await other.list()).intact.map(() => 'new'));
});
