import { beforeEach, expect, it, vi } from 'vitest';
import { noticeOf } from '../../../src/keys/notices.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../../support/engines.js';
import { outOfOrder, startOwnReceiver, verificationErrorOf, type Receiver } from '../../support/receiver.js';
import { eventLoopTurns, until } from '../../support/until.js';
import { hookTo, quick, untilPolled } from '../../support/webhooks.js';
import { hashOf } from '../../support/factories.js';

describeEngines('webhooks', (engine) => {
  let place: EnginePlace;
  let t: TestApp;
  let receiver: Receiver;
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    receiver = await startOwnReceiver();
    t = await startOwnApp(place.env, { dispatcherOptions: quick });
  });

  const key = (keyID: string, orgID = 'acme') => t.importKeys({ key_id: keyID, org_id: orgID });
  const change = async (keyID: string, alias: string) => expect((await t.update(keyID, { alias })).status).toBe(200);

  it('deliver every change once and in order per key to a receiver that fails twice', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e'];
    const { secret } = await hookTo(t, receiver.url);
    const tries = new Map<string, number>();
    receiver.behavior = ({ id }) => {
      tries.set(id, (tries.get(id) ?? 0) + 1);
      return (tries.get(id) ?? 0) <= 2 ? 500 : 200;
    };
    for (const keyID of keys) await key(keyID);
    for (let round = 0; round < 4; round += 1) for (const keyID of keys) await change(keyID, `${keyID} ${round}`);
    await receiver.until((taken) => taken.length === 25);
    await untilPolled(t);
    expect(outOfOrder(receiver.accepted())).toBeUndefined();
    expect([...tries.values()]).toStrictEqual(Array.from({ length: 25 }, () => 3));
    // Nothing came twice that had been taken, and all of it is believed.
    expect(receiver.received.filter(({ isAccepted }) => isAccepted)).toHaveLength(25);
    for (const message of receiver.received) expect(verificationErrorOf(secret, message)).toBeUndefined();
    // What has failed comes again with the same identifier and the same body.
    const bodies = new Map(receiver.received.map(({ id, body }) => [id, body]));
    expect(receiver.received.every(({ id, body }) => bodies.get(id) === body)).toBe(true);
  });

  it('contain the history entry in the names of REST', async () => {
    await hookTo(t, receiver.url);
    await key('a');
    await t.update(
      'a',
      { alias: 'Billing', quota_max: 9007199254740993n, hmac_string: 'CANARY-HMAC' },
      '?reset_quota=1',
      { 'x-keyfront-actor': 'Ana%20P%C3%A9rez' },
    );
    await receiver.until((taken) => taken.length === 2);
    const [, message] = receiver.accepted();
    expect(message?.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Keyfront/0.2.0' });
    expect(message?.type).toBe('orgKey.updated');
    expect(message?.data).toMatchObject({
      id: message?.id,
      org_id: 'acme',
      key_hash: hashOf('a'),
      operation: 'update',
      version_before: 1,
      version_after: 2,
      actor: { credential_id: expect.stringMatching(/^cred_/), label: 'test service', asserted_name: 'Ana Pérez' },
      quota_used_before_reset: 0,
    });
    expect(message?.data.changes).toContainEqual({ path: 'alias', kind: 'ADDED', after: 'Billing' });
    expect(message?.data.changes).toContainEqual({ path: 'hmac_string', kind: 'SET' });
    expect(message?.body).toContain('"after":9007199254740993');
    expect(message?.id).toMatch(/^evt_[0-9a-f]{32}$/);
  });

  it('contain only keys of the organization of the webhook', async () => {
    const other = await startOwnReceiver();
    await hookTo(t, receiver.url, { orgID: 'acme' });
    await hookTo(t, other.url);
    await key('a', 'acme');
    await key('z', 'zeta');
    await change('z', 'one');
    await change('a', 'two');
    await other.until((taken) => taken.length === 4);
    await receiver.until((taken) => taken.length === 2);
    await untilPolled(t);
    expect(receiver.received.map(({ data }) => data.org_id)).toStrictEqual(['acme', 'acme']);
  });

  it('contain only events of the types of the webhook, also between others of the same key', async () => {
    const other = await startOwnReceiver();
    await hookTo(t, receiver.url, { eventTypes: ['orgKey.deleted', 'orgKey.created', 'orgKey.expired'] });
    await hookTo(t, other.url);
    const send = async (mutation: string) =>
      expect((await t.graphql(`mutation { ${mutation} { version } }`)).body['errors']).toBeUndefined();
    await key('a');
    await send('createOrgKey(keyID: "b", input: { orgID: "acme" })');
    for (let round = 0; round < 3; round += 1) {
      await change('a', `round ${round}`);
      await send('deleteOrgKey(keyID: "a")');
      await send('restoreOrgKey(keyID: "a")');
      await change('b', `round ${round}`);
    }
    const key1 = await t.app.services.store.find(hashOf('a'));
    if (!key1) throw new Error('There is no key.');
    const notice = (kind: 'expired' | 'expiring') => noticeOf(key1, kind, t.clock.now, [kind], { expires: 1n });
    await t.app.services.store.addNotices([notice('expired'), notice('expiring')]);
    await other.until((taken) => taken.length === 16);
    await receiver.until((taken) => taken.length === 5);
    await untilPolled(t);
    const types = receiver.received.map(({ type }) => type).toSorted();
    const deleted = Array.from({ length: 3 }, () => 'orgKey.deleted');
    expect(types).toStrictEqual(['orgKey.created', ...deleted, 'orgKey.expired']);
    const versions = receiver.received.flatMap(({ type, data }) =>
      type === 'orgKey.deleted' ? [data.version_after] : [],
    );
    expect(versions).toStrictEqual([3, 6, 9]);
    // Nothing waits that would never be sent.
    const waiting = await place.rows<{ count: bigint | string }>('SELECT count(*) AS count FROM webhook_deliveries');
    expect(Number(waiting[0]?.count)).toBe(0);
  });

  it('of some types are given up and replayed as others, and continue after a restart of the receiver', async () => {
    await t.close();
    const once = { ...quick, retryPolicy: { delaysMs: [1], maxAttempts: 1 } };
    t = await startOwnApp(place.env, { dispatcherOptions: once });
    const { id } = await hookTo(t, receiver.url, { eventTypes: ['orgKey.updated'] });
    receiver.behavior = () => 500;
    await key('a');
    for (const alias of ['one', 'two']) await change('a', alias);
    const { webhooks } = t.app.services;
    const dead = () => webhooks.deadLetters({ webhookID: id }, 10);
    await until(async () => (await dead()).length === 2, 'Two dead letters');
    expect((await dead()).map(({ version }) => version)).toStrictEqual([2, 3]);
    receiver.behavior = () => 200;
    await t.close();
    t = await startOwnApp(place.env, { dispatcherOptions: once });
    expect(await t.app.services.webhooks.replay({ webhookID: id }, Date.now())).toBe(2);
    await receiver.until((taken) => taken.length === 2);
    await untilPolled(t);
    expect(receiver.received.map(({ type }) => type)).toStrictEqual(Array.from({ length: 4 }, () => 'orgKey.updated'));
    expect(await t.app.services.webhooks.deadLetters({ webhookID: id }, 10)).toStrictEqual([]);
  });

  it('are not delayed by failures of another key', async () => {
    await t.close();
    // However slow this machine is, no event is given up meanwhile.
    t = await startOwnApp(place.env, {
      dispatcherOptions: { ...quick, retryPolicy: { delaysMs: [20], maxAttempts: 100_000 } },
    });
    await hookTo(t, receiver.url);
    receiver.behavior = ({ data }) => (data.key_hash === hashOf('bad') ? 500 : 200);
    for (const keyID of ['bad', 'good']) await key(keyID);
    for (let round = 0; round < 5; round += 1) for (const one of ['bad', 'good']) await change(one, String(round));
    await receiver.until((taken) => taken.length === 6);
    const versionsOfBad = () =>
      new Set(receiver.received.flatMap(({ data }) => (data.key_hash === hashOf('bad') ? [data.version_after] : [])));
    await until(() => versionsOfBad().size > 0, 'An attempt of the other key');
    expect(versionsOfBad()).toStrictEqual(new Set([1]));
    receiver.behavior = () => 200;
    await receiver.until((taken) => taken.length === 12);
    expect(outOfOrder(receiver.accepted())).toBeUndefined();
  });

  it('are delivered by one of two processes on the same database, for changes of either', async () => {
    const other = await startOwnApp(place.env, { dispatcherOptions: quick });
    await hookTo(t, receiver.url);
    await key('a');
    for (let round = 0; round < 6; round += 1) {
      const by = round % 2 === 0 ? t : other;
      const { status } = await by.update('a', { alias: String(round) });
      expect(status).toBe(200);
    }
    await receiver.until((taken) => taken.length === 7);
    for (const one of [t, other]) await untilPolled(one);
    expect(receiver.received).toHaveLength(7);
    expect(outOfOrder(receiver.accepted())).toBeUndefined();
    // When the one that brings them stops, the other does it.
    await t.close();
    t = other;
    expect((await t.update('a', { alias: 'after' })).status).toBe(200);
    await receiver.until((taken) => taken.length === 8);
  });

  it('are not lost by a stop and restart of the service, and are rarely repeated', async () => {
    await hookTo(t, receiver.url);
    let release: () => void = () => undefined;
    const released = new Promise<number>((resolve) => {
      release = () => resolve(200);
    });
    receiver.behavior = () => (receiver.received.length <= 8 ? 200 : released);
    await t.importKeys(...Array.from({ length: 40 }, (_, index) => ({ key_id: `k${index}`, org_id: 'acme' })));
    await until(() => receiver.received.length === 16, 'Eight messages that wait after eight that were taken');
    const closed = t.close();
    await eventLoopTurns();
    release();
    await closed;
    const before = receiver.received.length;
    expect(before).toBeLessThan(40);
    expect(receiver.accepted()).toHaveLength(before);
    t = await startOwnApp(place.env, { dispatcherOptions: quick });
    await receiver.until((taken) => taken.length === 40);
    await untilPolled(t);
    // Those with a response while an earlier one was in progress are sent again, and are known by their identifiers.
    expect(receiver.received.length).toBeLessThan(40 + 8);
  });

  it('are sent again after a restart if the process was killed before it recorded their result', async () => {
    await hookTo(t, receiver.url);
    receiver.behavior = () => {
      // From now on the process writes nothing more, as after a kill.
      t.app.services.webhooks.recordResults = () => Promise.reject(new Error('The process was killed.'));
      return 200;
    };
    await key('a');
    await receiver.until((taken) => taken.length === 1);
    await t.close();
    receiver.behavior = () => 200;
    t = await startOwnApp(place.env, { dispatcherOptions: quick });
    await until(() => receiver.received.length === 2);
    expect(receiver.accepted()).toHaveLength(1);
  });

  it('are sent again, and later ones too, after storage has failed to record a result', async () => {
    await hookTo(t, receiver.url);
    receiver.behavior = () => {
      receiver.behavior = () => 200;
      vi.spyOn(t.app.services.webhooks, 'recordResults').mockRejectedValueOnce(new Error('The disk is full.'));
      return 200;
    };
    await key('a');
    await until(() => receiver.received.length === 2);
    await change('a', 'later');
    await receiver.until((taken) => taken.length === 2);
    expect(outOfOrder(receiver.accepted())).toBeUndefined();
  });

  it('become dead letters after the maximum number of attempts, and can be replayed', async () => {
    const { id } = await hookTo(t, receiver.url);
    receiver.behavior = ({ data }) => (data.version_after === 2 ? 400 : 200);
    await key('a');
    for (const alias of ['one', 'two', 'three']) await change('a', alias);
    await receiver.until((taken) => taken.length === 3);
    const { webhooks } = t.app.services;
    const letters = await webhooks.deadLetters({ webhookID: id }, 10);
    expect(letters).toMatchObject([{ keyHash: hashOf('a'), version: 2, attempts: 6, lastError: 'returned 400' }]);
    expect(receiver.received.filter(({ data }) => data.version_after === 2)).toHaveLength(6);
    receiver.behavior = () => 200;
    await untilPolled(t);
    expect(receiver.accepted()).toHaveLength(3);
    expect(await webhooks.replay({ webhookID: id }, Date.now())).toBe(1);
    await receiver.until((taken) => taken.length === 4);
    expect(receiver.accepted().at(-1)?.id).toBe(letters[0]?.eventID);
    await until(async () => (await webhooks.deadLetters({ webhookID: id }, 10)).length === 0, 'No dead letter');
  });
});
