import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../../support/app.js';
import { describeEngines, type EnginePlace } from '../../support/engines.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { tamper } from '../../support/tamper.js';
import { hookTo, quick } from '../../support/webhooks.js';

describeEngines('a webhook, in a damaged database', (engine) => {
  let place: EnginePlace;
  let receiver: Receiver;
  let t: TestApp;
  const maxAttempts = 3;
  const pace = { ...quick, retryPolicy: { delaysMs: [10], maxAttempts } };
  beforeEach(async () => {
    place = await engine.make();
    receiver = await startReceiver();
    t = await startApp(place.env, { dispatcherOptions: pace });
  });
  afterEach(async () => {
    await t.close();
    await receiver.close();
    await place.remove();
  });

  async function damage(table: string, statement: string): Promise<void> {
    if (place.database) await place.database.run(`ALTER TABLE ${table} DISABLE TRIGGER USER; ${statement}`);
    else tamper(join(place.folder, 'keyfront.db'), statement);
  }
  const eventually = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 10 });
  /** Resolves when the leases have been read this often. */
  async function polls(count: number): Promise<void> {
    const reads = vi.spyOn(t.app.services.webhooks, 'acquireLeases');
    await eventually(() => expect(reads.mock.calls.length).toBeGreaterThanOrEqual(count));
    reads.mockRestore();
  }
  const versionsOf = (keyID: string) =>
    receiver
      .accepted()
      .filter(({ data }) => data.key_hash === t.app.services.ports.hashKeyID(keyID))
      .map(({ data }) => data.version_after);

  async function paused(id: string, work: () => Promise<void>): Promise<void> {
    const { webhooks } = t.app.services;
    await webhooks.change(id, (found) => ({ ...found, paused: { at: new Date(), why: 'a test' } }));
    await work();
    await webhooks.change(id, (found) => ({ ...found, paused: undefined }));
  }

  it('makes an event a dead letter if its history entry fails the integrity check, and delivers all others', async () => {
    const { id } = await hookTo(t, receiver.url);
    await paused(id, async () => {
      await t.importKeys({ key_id: 'a', org_id: 'acme' }, { key_id: 'b', org_id: 'acme' });
      for (const alias of ['two', 'three']) expect((await t.update('a', { alias })).status).toBe(200);
      await damage('audit', `UPDATE audit SET reason = 'forged' WHERE version_after = 2`);
    });
    await receiver.until((taken) => taken.length === 3);
    expect([versionsOf('a'), versionsOf('b')]).toStrictEqual([[1, 3], [1]]);
    const { webhooks } = t.app.services;
    const letters = await webhooks.deadLetters({ webhookID: id }, 10);
    const lastError = 'its history entry fails the integrity check';
    expect(letters).toMatchObject([{ version: 2, attempts: maxAttempts, lastError }]);
    expect(t.logs()).toContain('webhook event cannot be sent');

    // Nor is a replay of it in the way of anything; and it is sent once the entry is what it was.
    await webhooks.replay({ webhookID: id }, Date.now());
    const isGivenUp = async () => (await webhooks.deadLetters({ webhookID: id }, 10))[0]?.dueMs === undefined;
    await eventually(async () => expect(await isGivenUp()).toBe(true));
    await t.update('b', { alias: 'two' });
    await receiver.until((taken) => taken.length === 4);
    await damage('audit', `UPDATE audit SET reason = NULL WHERE version_after = 2 AND reason = 'forged'`);
    await webhooks.replay({ webhookID: id }, Date.now());
    await receiver.until((taken) => taken.length === 5);
    expect(versionsOf('a')).toStrictEqual([1, 3, 2]);
    await eventually(async () => expect(await webhooks.deadLetters({ webhookID: id }, 10)).toStrictEqual([]));
  });

  it('is logged once if its row fails the integrity check, and does not delay other webhooks', async () => {
    const { id } = await hookTo(t, receiver.url);
    const other = await startReceiver();
    await hookTo(t, other.url);
    await t.importKeys({ key_id: 'a', org_id: 'acme' });
    await receiver.until((taken) => taken.length === 1);
    await damage('webhooks', `UPDATE webhooks SET label = 'forged' WHERE id = '${id}'`);
    const message = 'the row of a webhook fails its integrity check; nothing is delivered for it';
    await eventually(() => expect(t.logs()).toContain(message));
    await polls(3);
    await t.importKeys({ key_id: 'b', org_id: 'acme' });
    await other.until((taken) => taken.length === 2);
    expect(receiver.received).toHaveLength(1);
    expect(t.logs().split(message)).toHaveLength(2);
    expect(t.logs()).toMatch(new RegExp(`"webhook":"${id}"[^\\n]*${message}`));
    await other.close();
  });

  it('is logged once if its secret cannot be decrypted and once if its row is damaged, and delivered afterwards', async () => {
    const { id } = await hookTo(t, receiver.url);
    const other = await startReceiver();
    await hookTo(t, other.url);
    const { webhooks } = t.app.services;
    let sealedSecret = new Uint8Array();
    await webhooks.change(id, (found) => {
      sealedSecret = new Uint8Array(found.sealedSecret);
      return { ...found, sealedSecret: new Uint8Array(60) };
    });
    const message = 'the delivery worker of a webhook could not be started; nothing is delivered for it';
    await eventually(() => expect(t.logs()).toContain(message));
    await polls(3);
    await t.importKeys({ key_id: 'a', org_id: 'acme' });
    await other.until((taken) => taken.length === 1);
    expect(receiver.received).toHaveLength(0);
    expect(t.logs().split(message)).toHaveLength(2);

    const [{ label } = { label: '' }] = (await webhooks.list()).intact;
    await damage('webhooks', `UPDATE webhooks SET label = 'forged' WHERE id = '${id}'`);
    await eventually(() => expect(t.logs()).toContain('fails its integrity check'));
    await damage('webhooks', `UPDATE webhooks SET label = '${label}' WHERE id = '${id}'`);
    await webhooks.change(id, (found) => ({ ...found, sealedSecret }));
    await receiver.until((taken) => taken.length === 1);
    await other.close();
  });

  it('continues if a failing key was purged and created again by another organisation', async () => {
    await hookTo(t, receiver.url, { orgID: 'acme' });
    receiver.behaviour = ({ data }) => (data.version_after === 2 ? 429 : 204);
    await t.close();
    t = await startApp(place.env, {
      dispatcherOptions: { ...pace, retryPolicy: { delaysMs: [10], maxAttempts: 100_000 } },
    });
    await t.importKeys({ key_id: 'a', org_id: 'acme' });
    await t.update('a', { alias: 'waits' });
    await eventually(() => expect(receiver.received.some(({ data }) => data.version_after === 2)).toBe(true));
    const headers = { 'x-svc-authorization': t.service };
    expect((await t.send('/svc/org/keys/a', { method: 'DELETE', headers })).status).toBe(200);
    await t.app.services.store.purge(new Date(t.clock.now.getTime() + 1));
    await t.importKeys({ key_id: 'a', org_id: 'zeta' });
    await t.update('a', { alias: 'another organisation’s' });
    await eventually(async () =>
      expect(await t.app.services.webhooks.deliveryStats()).toMatchObject([{ retryingKeys: 0 }]),
    );
    await t.importKeys({ key_id: 'b', org_id: 'acme' });
    await eventually(() => expect(versionsOf('b')).toStrictEqual([1]));
    expect(receiver.received.every(({ data }) => data.org_id === 'acme')).toBe(true);
  });

  it('makes a dead letter of a damaged first event although an attempt of the purged key is in flight', async () => {
    const { id } = await hookTo(t, receiver.url);
    const { feed, store, webhooks } = t.app.services;
    const [response, creation] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
    receiver.behaviour = () => response.promise;
    await t.importKeys({ key_id: 'a', org_id: 'acme' });
    await eventually(() => expect(receiver.received).toHaveLength(1));

    const read = feed.read.bind(feed);
    const pages = vi.spyOn(feed, 'read').mockImplementation(async (query) => {
      await creation.promise;
      return read(query);
    });
    const headers = { 'x-svc-authorization': t.service };
    expect((await t.send('/svc/org/keys/a', { method: 'DELETE', headers })).status).toBe(200);
    await store.purge(new Date(t.clock.now.getTime() + 1));
    t.clock.now = new Date(t.clock.now.getTime() + 1_000);
    await t.importKeys({ key_id: 'a', org_id: 'acme' });
    await damage('audit', `UPDATE audit SET reason = 'forged' WHERE version_after = 1`);
    creation.resolve();
    const events = () =>
      pages.mock.settledResults.flatMap(({ type, value }) => (type === 'fulfilled' ? value.events : []));
    await eventually(() => expect(events()).toMatchObject([{ version: 1, entry: undefined }]));
    await polls(3);
    response.resolve(200);
    const letters = () => webhooks.deadLetters({ webhookID: id }, 10);
    await eventually(async () => expect(await letters()).toMatchObject([{ version: 1, attempts: maxAttempts }]));
  });
});
