import { beforeEach, expect, it, vi } from 'vitest';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../../support/engines.js';
import { hashOf } from '../../support/factories.js';
import { startOwnReceiver, type Receiver } from '../../support/receiver.js';
import { sendRequest } from '../../support/responses.js';
import { until } from '../../support/until.js';
import { hookTo, quick, untilPolled } from '../../support/webhooks.js';

describeEngines('a webhook, in a damaged database', (engine) => {
  let place: EnginePlace;
  let t: TestApp;
  let receiver: Receiver;
  const maxAttempts = 3;
  const pace = { ...quick, retryPolicy: { delaysMs: [10], maxAttempts } };
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    receiver = await startOwnReceiver();
    t = await startOwnApp(place.env, { dispatcherOptions: pace });
  });

  const versionsOf = (keyID: string) =>
    receiver
      .accepted()
      .filter(({ data }) => data.key_hash === hashOf(keyID))
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
      await place.tamper(`UPDATE history SET reason = 'forged' WHERE version = 2`);
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
    await until(isGivenUp);
    await t.update('b', { alias: 'two' });
    await receiver.until((taken) => taken.length === 4);
    await place.tamper(`UPDATE history SET reason = NULL WHERE version = 2 AND reason = 'forged'`);
    await webhooks.replay({ webhookID: id }, Date.now());
    await receiver.until((taken) => taken.length === 5);
    expect(versionsOf('a')).toStrictEqual([1, 3, 2]);
    await until(async () => (await webhooks.deadLetters({ webhookID: id }, 10)).length === 0, 'No dead letter');
  });

  it('is logged once if its row fails the integrity check, and does not delay other webhooks', async () => {
    const { id } = await hookTo(t, receiver.url);
    const other = await startOwnReceiver();
    await hookTo(t, other.url);
    await t.importKeys({ key_id: 'a', org_id: 'acme' });
    await receiver.until((taken) => taken.length === 1);
    await place.tamper(`UPDATE webhooks SET label = 'forged' WHERE id = '${id}'`);
    const message = 'the row of a webhook fails its integrity check; nothing is delivered for it';
    await until(() => t.logs().includes(message));
    await untilPolled(t);
    await t.importKeys({ key_id: 'b', org_id: 'acme' });
    await other.until((taken) => taken.length === 2);
    expect(receiver.received).toHaveLength(1);
    expect(t.logs().split(message)).toHaveLength(2);
    expect(t.logs()).toMatch(new RegExp(`"webhook":"${id}"[^\\n]*${message}`));
  });

  it('is logged once if its secret cannot be decrypted and once if its row is damaged, and delivered afterwards', async () => {
    const { id } = await hookTo(t, receiver.url);
    const other = await startOwnReceiver();
    await hookTo(t, other.url);
    const { webhooks } = t.app.services;
    let sealedSecret = new Uint8Array();
    await webhooks.change(id, (found) => {
      sealedSecret = new Uint8Array(found.sealedSecret);
      return { ...found, sealedSecret: new Uint8Array(60) };
    });
    const message = 'the delivery worker of a webhook could not be started; nothing is delivered for it';
    await until(() => t.logs().includes(message));
    await untilPolled(t);
    await t.importKeys({ key_id: 'a', org_id: 'acme' });
    await other.until((taken) => taken.length === 1);
    expect(receiver.received).toHaveLength(0);
    expect(t.logs().split(message)).toHaveLength(2);

    const [{ label } = { label: '' }] = (await webhooks.list()).intact;
    await place.tamper(`UPDATE webhooks SET label = 'forged' WHERE id = '${id}'`);
    await until(() => t.logs().includes('fails its integrity check'));
    await place.tamper(`UPDATE webhooks SET label = '${label}' WHERE id = '${id}'`);
    await webhooks.change(id, (found) => ({ ...found, sealedSecret }));
    await receiver.until((taken) => taken.length === 1);
  });

  it('continues if a failing key was purged and created again by another organization', async () => {
    await hookTo(t, receiver.url, { orgID: 'acme' });
    receiver.behavior = ({ data }) => (data.version_after === 2 ? 429 : 204);
    await t.close();
    t = await startOwnApp(place.env, {
      dispatcherOptions: { ...pace, retryPolicy: { delaysMs: [10], maxAttempts: 100_000 } },
    });
    await t.importKeys({ key_id: 'a', org_id: 'acme' });
    await t.update('a', { alias: 'waits' });
    await until(() => receiver.received.some(({ data }) => data.version_after === 2));
    expect((await sendRequest(t, 'DELETE', '/svc/org/keys/a')).status).toBe(200);
    await t.app.services.store.purge(new Date(t.clock.now.getTime() + 1));
    await t.importKeys({ key_id: 'a', org_id: 'zeta' });
    await t.update('a', { alias: 'another organization’s' });
    await until(async () => (await t.app.services.webhooks.deliveryStats())[0]?.retryingKeys === 0);
    await t.importKeys({ key_id: 'b', org_id: 'acme' });
    await receiver.until(() => versionsOf('b').length === 1);
    expect(versionsOf('b')).toStrictEqual([1]);
    expect(receiver.received.every(({ data }) => data.org_id === 'acme')).toBe(true);
  });

  it('makes a dead letter of a damaged first event although an attempt of the purged key is in flight', async () => {
    const { id } = await hookTo(t, receiver.url);
    const { feed, store, webhooks } = t.app.services;
    const [response, creation] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
    receiver.behavior = () => response.promise;
    await t.importKeys({ key_id: 'a', org_id: 'acme' });
    await until(() => receiver.received.length === 1);

    const read = feed.read.bind(feed);
    const pages = vi.spyOn(feed, 'read').mockImplementation(async (query) => {
      await creation.promise;
      return read(query);
    });
    expect((await sendRequest(t, 'DELETE', '/svc/org/keys/a')).status).toBe(200);
    await store.purge(new Date(t.clock.now.getTime() + 1));
    t.clock.now = new Date(t.clock.now.getTime() + 1_000);
    await t.importKeys({ key_id: 'a', org_id: 'acme' });
    await place.tamper(`UPDATE history SET reason = 'forged' WHERE version = 1`);
    creation.resolve();
    const changes = () =>
      pages.mock.settledResults
        .flatMap(({ type, value }) => (type === 'fulfilled' ? value.events : []))
        .filter(({ noticeID }) => noticeID === undefined);
    // PostgreSQL may return the notice of the purge before the creation: another transaction delays the latter.
    await until(() => changes().length > 0);
    expect(changes()).toMatchObject([{ version: 1, entry: undefined }]);
    await untilPolled(t);
    response.resolve(200);
    const letters = () => webhooks.deadLetters({ webhookID: id }, 10);
    await until(async () => (await letters()).length > 0);
    expect(await letters()).toMatchObject([{ version: 1, attempts: maxAttempts }]);
  });
});
