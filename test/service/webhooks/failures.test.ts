import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Meter } from '../../../src/telemetry/ports.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { temporaryFolder } from '../../support/folder.js';
import { freePort } from '../../support/free-port.mjs';
import { outOfOrder, startOwnReceiver, type Receiver } from '../../support/receiver.js';
import { sendRequest } from '../../support/responses.js';
import { eventLoopTurns, until } from '../../support/until.js';
import { hookTo, quick, untilPolled } from '../../support/webhooks.js';
import { hashOf } from '../../support/factories.js';

let t: TestApp;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startOwnReceiver();
  t = await startOwnApp({}, { dispatcherOptions: quick });
});

const key = (keyID: string, orgID = 'acme') => t.importKeys({ key_id: keyID, org_id: orgID });
const change = async (keyID: string, alias: string) => expect((await t.update(keyID, { alias })).status).toBe(200);
const standing = async () => (await t.app.services.webhooks.deliveryStats())[0];

describe('a receiver that is down for long', () => {
  it('leaves a few dead letters and a cursor, and receives everything in order and by a replay after its recovery', async () => {
    await receiver.close();
    const port = await freePort();
    const { id } = await hookTo(t, `http://127.0.0.1:${port}/keys`);
    const keys = Array.from({ length: 60 }, (_, index) => `key-${index}`);
    for (const keyID of keys) await key(keyID);
    for (let round = 0; round < 3; round += 1) for (const keyID of keys) await change(keyID, String(round));
    await until(async () => ((await standing())?.deadLetters ?? 0) >= 16);
    const { retryingKeys = 0, deadLetters = 0 } = (await standing()) ?? {};
    // Of 240 events only those were begun whose keys it took to see that the receiver is down.
    expect(retryingKeys).toBeLessThan(40);
    receiver = await startOwnReceiver(port);
    const isGood = (taken: readonly unknown[]) => taken.length >= 240 - deadLetters - 40;
    await receiver.until(isGood);
    const deadNow = () => t.app.services.webhooks.deadLetters({ webhookID: id }, 1_000);
    await until(async () => receiver.accepted().length + (await deadNow()).length === 240);
    await until(async () => (await standing())?.retryingKeys === 0);
    const dead = await deadNow();
    expect(dead.every(({ lastError: why }) => why === 'connection refused')).toBe(true);
    expect(await t.app.services.webhooks.replay({ webhookID: id }, Date.now())).toBe(dead.length);
    await receiver.until((taken) => taken.length === 240);
    const ids = receiver.accepted().map(({ id: event }) => event);
    expect(ids.slice(-dead.length).toSorted()).toStrictEqual(dead.map(({ eventID }) => eventID).toSorted());
    // A replayed event may come after later ones of its key, and its version gives its position.
    const byVersion = receiver.accepted().toSorted((a, b) => a.data.version_after - b.data.version_after);
    expect(outOfOrder(byVersion)).toBeUndefined();
  });

  it('is paused after a thousand dead letters', async () => {
    await t.close();
    t = await startOwnApp({}, { dispatcherOptions: { ...quick, retryPolicy: { delaysMs: [1], maxAttempts: 1 } } });
    const { id } = await hookTo(t, receiver.url);
    const { webhooks } = t.app.services;
    receiver.behavior = () => 500;
    await t.importKeys(...Array.from({ length: 1_100 }, (_, index) => ({ key_id: `k${index}`, org_id: 'acme' })));
    const paused = async () => (await webhooks.list()).intact[0]?.paused;
    await until(async () => (await paused()) !== undefined);
    // Attempts that are open at the thousandth are counted if they fail before the pause.
    expect((await paused())?.why).toMatch(/^10[01]\d events were given up; replay or discard them$/);
    // The pause recalls the lease. Once it is released, nothing more is sent or written.
    await until(async () => !(await webhooks.isRecalled(id)));
    expect((await standing())?.deadLetters).toBeLessThan(1_020);
    // Entries without a receiver are discarded, and delivery continues with newer ones.
    receiver.behavior = () => 200;
    const { deadLetters = 0 } = (await standing()) ?? {};
    expect(await webhooks.discard({ webhookID: id })).toBe(deadLetters);
    await webhooks.change(id, (found) => ({ ...found, paused: undefined }));
    await receiver.until((taken) => taken.length >= 1_100 - deadLetters);
    expect((await standing())?.deadLetters).toBe(0);
  });
});

describe('a receiver whose retries are due in ten minutes', () => {
  beforeEach(async () => {
    await t.close();
    const retryPolicy = { delaysMs: [1, 600_000], maxAttempts: 30 };
    t = await startOwnApp({}, { dispatcherOptions: { ...quick, retryPolicy } });
  });
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
  const attemptsOf = (keyID: string) => receiver.received.filter(({ data }) => data.key_hash === hashOf(keyID)).length;

  it('receives all of them at once when an outage has ended', async () => {
    const { id } = await hookTo(t, receiver.url);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const retries = () => t.app.services.webhooks.nextDeliveries(id, 100, 'retry');
    let isDown = true;
    let hasFailed = false;
    receiver.behavior = async ({ data }) => {
      if (!isDown) return 200;
      if (data.key_hash !== receiver.received[0]?.data.key_hash) return 500;
      // The first key fails once the circuit breaker is open, and is the first to succeed.
      if (hasFailed) await ended;
      else await until(async () => (await retries()).length >= 16);
      hasFailed = true;
      return isDown ? 500 : 200;
    };
    await t.importKeys(...keys.map((keyID) => ({ key_id: keyID, org_id: 'acme' })));
    const waiting = async () => (await retries()).filter(({ dueMs = 0 }) => dueMs > Date.now() + 100_000).length;
    await until(async () => (await waiting()) >= 16, 'Retries in ten minutes');
    isDown = false;
    end();
    await receiver.until((taken) => taken.length === keys.length);
  });

  it('receives none of them earlier when another event succeeds', async () => {
    const { id } = await hookTo(t, receiver.url);
    receiver.behavior = ({ data }) => (data.key_hash === hashOf('k0') ? 500 : 200);
    await key('k0');
    await until(() => attemptsOf('k0') === 2);
    await until(async () => (await t.app.services.webhooks.nextDeliveries(id, 1, 'retry'))[0]?.attempts === 2);
    await key('k1');
    await receiver.until((taken) => taken.length === 1);
    await untilPolled(t);
    const [waiting] = await t.app.services.webhooks.nextDeliveries(id, 1, 'retry');
    expect((waiting?.dueMs ?? 0) - Date.now()).toBeGreaterThan(100_000);
    expect(attemptsOf('k0')).toBe(2);
  });
});

describe('a clock that was two days ahead', () => {
  const start = async (folder: string) => {
    t = await startOwnApp({ KEYFRONT_DATA: folder }, { dispatcherOptions: quick });
  };
  let folder: string;
  let now: number;
  beforeEach(async () => {
    await t.close();
    now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: now + 2 * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    folder = await temporaryFolder();
    await start(folder);
    await hookTo(t, receiver.url);
    receiver.behavior = () => 500;
    await key('a');
    await until(async () => (await standing())?.retryingKeys === 1);
  });
  const correct = () => {
    receiver.behavior = () => 200;
    vi.setSystemTime(now);
  };
  const warnings = () => t.logLines('because the clock was ahead').map(({ level, count }) => [level, count]);

  it('delays no event after it was set back while the service runs', async () => {
    correct();
    await receiver.until((taken) => taken.length === 1);
    expect(warnings()).toStrictEqual([['warn', 1]]);
  });

  it('delays no event after it was set back while no service runs, and lets events wait as long as a delay permits', async () => {
    await t.close();
    correct();
    await start(folder);
    await receiver.until((taken) => taken.length === 1);
    expect(warnings()).toStrictEqual([['warn', 1]]);
    await t.close();
    // A retry that waits for a day, as a receiver may request, and a new event.
    const place = new Database(join(folder, 'keyfront.db'));
    const insert = place.prepare(
      `INSERT INTO webhook_deliveries SELECT id, ?, '', 'pending', 1, 1, ?, ?, NULL, '' FROM webhooks`,
    );
    insert.run('later', 1, now + 86_400_000);
    insert.run(hashOf('a'), 0, now + 86_400_000);
    place.close();
    await start(folder);
    await until(() => receiver.received.length > 1 && warnings().length > 0);
    expect(warnings()).toStrictEqual([['warn', 1]]);
    const [{ id = '' } = {}] = (await t.app.services.webhooks.list()).intact;
    expect(await t.app.services.webhooks.nextDeliveries(id, 10, 'retry')).toMatchObject([
      { keyHash: 'later', dueMs: now + 86_400_000 },
    ]);
  });
});

describe('a receiver', () => {
  it('receives at most eight requests at a time', async () => {
    await hookTo(t, receiver.url);
    const waiting: (() => void)[] = [];
    receiver.behavior = async () => {
      await new Promise<void>((resolve) => void waiting.push(resolve));
      return 200;
    };
    await t.importKeys(...Array.from({ length: 40 }, (_, index) => ({ key_id: `k${index}`, org_id: 'acme' })));
    for (let group = 0; group < 5; group += 1) {
      await until(() => waiting.length >= 8, 'Eight messages at a time');
      await eventLoopTurns();
      expect(waiting).toHaveLength(8);
      for (const respond of waiting.splice(0)) respond();
    }
    await receiver.until((taken) => taken.length === 40);
  });

  it('receives a retry for a key without a response, and all other keys meanwhile', async () => {
    await t.close();
    const schedule = { delaysMs: [20], maxAttempts: 100_000 };
    t = await startOwnApp({}, { dispatcherOptions: { ...quick, retryPolicy: schedule, timeoutMs: 300 } });
    await hookTo(t, receiver.url);
    receiver.behavior = ({ data }) => (data.key_hash === hashOf('mute') ? undefined : 200);
    await key('mute');
    await key('other');
    for (const alias of ['one', 'two']) await change('other', alias);
    await receiver.until((taken) => taken.length === 3);
    await until(() => receiver.received.filter(({ data }) => data.key_hash === hashOf('mute')).length >= 2);
    receiver.behavior = () => 200;
    await receiver.until((taken) => taken.length === 4);
  });

  it('receives the events of another key while the retries of eight keys get no response', async () => {
    await hookTo(t, receiver.url);
    const mute = new Set(Array.from({ length: 8 }, (_, index) => hashOf(`mute-${index}`)));
    const unanswered: string[] = [];
    receiver.behavior = ({ id, data }) => {
      if (!mute.has(data.key_hash)) return 200;
      if (receiver.received.filter((message) => message.id === id).length === 1) return 500;
      unanswered.push(id);
      return undefined;
    };
    await t.importKeys(...Array.from(mute, (_, index) => ({ key_id: `mute-${index}`, org_id: 'acme' })));
    await until(() => unanswered.length === 4, 'Four retries at a time');
    await key('other');
    await receiver.until((taken) => taken.length === 1);
    expect(unanswered).toHaveLength(4);
  });

  it('receives eight retries at a time during an outage', async () => {
    await hookTo(t, receiver.url);
    const failed = new Set<string>();
    let unanswered = 0;
    receiver.behavior = ({ data: { key_hash: keyHash } }, response) => {
      if (!failed.has(keyHash)) {
        failed.add(keyHash);
        return 500;
      }
      unanswered += 1;
      response.on('close', () => void (unanswered -= 1));
      return undefined;
    };
    await t.importKeys(...Array.from({ length: 20 }, (_, index) => ({ key_id: `k${index}`, org_id: 'acme' })));
    await until(() => unanswered === 8, 'Eight retries at a time');
    expect(failed.size).toBeGreaterThanOrEqual(16);
  });

  it('receives the events of other keys when it requests a pause with another status than 429 and 503', async () => {
    await hookTo(t, receiver.url);
    receiver.behavior = ({ data }, response) => {
      if (data.key_hash !== hashOf('a')) return 200;
      response.writeHead(500, { 'retry-after': '3600' }).end();
      return undefined;
    };
    await key('a');
    await until(async () => (await standing())?.retryingKeys === 1);
    await key('b');
    await receiver.until((taken) => taken.length === 1);
    expect(receiver.received).toHaveLength(2);
  });

  it('counts as successful if it returns an endless body, which is not read', async () => {
    await hookTo(t, receiver.url);
    let sent = 0;
    let isCut = false;
    receiver.behavior = (message, response) => {
      message.isAccepted = true;
      response.writeHead(200);
      response.on('close', () => {
        isCut = true;
      });
      const more = () => {
        if (isCut) return;
        sent += 4_096;
        response.write('x'.repeat(4_096), () => setImmediate(more));
      };
      more();
      return undefined;
    };
    await key('a');
    await until(() => isCut);
    await untilPolled(t);
    expect(receiver.received).toHaveLength(1);
    expect(await standing()).toMatchObject({ retryingKeys: 0 });
    // The kernel buffers some bytes before the sender notices that the receiver does not read.
    expect(sent).toBeLessThan(8 * 1024 * 1024);
  });

  it('is not followed to a redirect, which counts as a failed attempt', async () => {
    const elsewhere = await startOwnReceiver();
    const { id } = await hookTo(t, receiver.url);
    receiver.behavior = (_message, response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
      return undefined;
    };
    await key('a');
    await until(async () => (await standing())?.deadLetters === 1);
    const [letter] = await t.app.services.webhooks.deadLetters({ webhookID: id }, 1);
    expect(letter?.lastError).toBe('returned 307; redirects are not followed');
    expect(elsewhere.received).toHaveLength(0);
  });

  it('is paused after 410 and continues where it stopped once resumed', async () => {
    const { id } = await hookTo(t, receiver.url);
    receiver.behavior = () => 410;
    const { webhooks } = t.app.services;
    await key('a');
    await until(async () => (await webhooks.list()).intact[0]?.paused !== undefined);
    expect((await webhooks.list()).intact[0]?.paused?.why).toBe('the receiver returned 410 Gone');
    await change('a', 'meanwhile');
    await untilPolled(t);
    expect(receiver.received).toHaveLength(1);
    receiver.behavior = () => 200;
    await webhooks.change(id, (found) => ({ ...found, paused: undefined }));
    await receiver.until((taken) => taken.length === 2);
    expect(outOfOrder(receiver.accepted())).toBeUndefined();
  });

  it('receives nothing for any key during a pause requested with Retry-After', async () => {
    await hookTo(t, receiver.url);
    let isFirst = true;
    receiver.behavior = (_message, response) => {
      if (!isFirst) return 200;
      isFirst = false;
      response.writeHead(429, { 'retry-after': '1' }).end();
      return undefined;
    };
    await key('a');
    await until(() => t.logLines('"webhook attempt"').length === 1, 'The response to the first attempt');
    await key('b');
    await receiver.until((taken) => taken.length === 2);
    const [first, ...others] = receiver.received;
    // Seconds are all that it can ask for; a little less is due to clocks.
    for (const { atMs } of others) expect(atMs - (first?.atMs ?? 0)).toBeGreaterThan(900);
  });
});

describe('a webhook', () => {
  it('receives nothing after the end of a lease that was not renewed, and everything once a lease is acquired', async () => {
    await t.close();
    t = await startOwnApp({}, { dispatcherOptions: { ...quick, timeoutMs: 600_000, leaseDurationMs: 1_000 } });
    await hookTo(t, receiver.url);
    const aborted = new Promise((resolve) => {
      receiver.behavior = (_message, response) => void response.on('close', resolve);
    });
    await key('a');
    await until(() => receiver.received.length === 1);
    const acquireLeases = vi.spyOn(t.app.services.webhooks, 'acquireLeases');
    acquireLeases.mockRejectedValue(new Error('The database does not respond.'));
    await aborted;
    receiver.behavior = () => 200;
    await key('b');
    await untilPolled(t);
    expect(receiver.received).toHaveLength(1);
    expect(await standing()).toMatchObject({ retryingKeys: 0 });
    acquireLeases.mockRestore();
    await receiver.until((taken) => taken.length === 2);
  });

  it('counts no attempt as failed that the end of the service aborts', async () => {
    const folder = await temporaryFolder();
    await t.close();
    t = await startOwnApp({ KEYFRONT_DATA: folder }, { dispatcherOptions: quick });
    await hookTo(t, receiver.url);
    receiver.behavior = () => undefined;
    await key('a');
    await until(() => receiver.received.length === 1);
    await t.close();
    expect(t.logLines('"webhook attempt"')).toStrictEqual([]);
    receiver.behavior = () => 200;
    t = await startOwnApp({ KEYFRONT_DATA: folder }, { dispatcherOptions: quick });
    await receiver.until((taken) => taken.length === 1);
  });

  it('receives nothing after its removal, which deletes all its rows', async () => {
    const { id } = await hookTo(t, receiver.url);
    receiver.behavior = () => 500;
    await key('a');
    await until(async () => (await standing())?.retryingKeys === 1);
    expect(await t.app.services.webhooks.remove(id)).toBe(true);
    await untilPolled(t);
    const count = receiver.received.length;
    await change('a', 'one');
    await untilPolled(t);
    expect(receiver.received).toHaveLength(count);
    expect(await t.app.services.webhooks.deliveryStats()).toStrictEqual([]);
    expect(await t.app.services.webhooks.nextDeliveries(id, 10, 'any')).toStrictEqual([]);
    expect(await t.app.services.webhooks.remove(id)).toBe(false);
  });

  it('saves its position behind events of other organizations at intervals of five seconds', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    await t.close();
    t = await startOwnApp({}, { dispatcherOptions: quick });
    await hookTo(t, receiver.url, { orgID: 'acme' });
    await key('a');
    await receiver.until((taken) => taken.length === 1);
    await untilPolled(t);
    const record = vi.spyOn(t.app.services.webhooks, 'recordResults');
    const read = vi.spyOn(t.app.services.feed, 'read');
    const untilRead = async () => {
      const count = read.mock.calls.length;
      await key(`other-${count}`, 'globex');
      await until(() => read.mock.calls.length > count);
      await untilPolled(t);
    };
    await untilRead();
    expect(record).not.toHaveBeenCalled();
    vi.advanceTimersByTime(5_001);
    await untilRead();
    expect(record.mock.calls).toStrictEqual([[expect.any(String), expect.any(String), { cursor: expect.any(String) }]]);
    await untilRead();
    expect(record).toHaveBeenCalledTimes(1);
  });

  it('receives only later changes if it is new', async () => {
    await key('a');
    await hookTo(t, receiver.url);
    await change('a', 'after');
    await receiver.until((taken) => taken.length === 1);
    await untilPolled(t);
    expect(receiver.received.map(({ data }) => data.version_after)).toStrictEqual([2]);
  });

  it('receives the events of a key that was purged and created again', async () => {
    await hookTo(t, receiver.url);
    receiver.behavior = ({ data }) => (data.version_after === 1 ? 200 : 500);
    await key('a');
    await change('a', 'waits');
    await until(async () => (await standing())?.retryingKeys === 1);
    expect((await sendRequest(t, 'DELETE', '/svc/org/keys/a')).status).toBe(200);
    await t.app.services.store.purge(new Date(t.clock.now.getTime() + 1));
    t.clock.now = new Date(t.clock.now.getTime() + 1_000);
    await key('a');
    await receiver.until((taken) => taken.length === 2);
    receiver.behavior = () => 200;
    await until(async () => (await standing())?.retryingKeys === 0);
    const [first, second] = receiver.accepted();
    expect([first?.data.version_after, second?.data.version_after]).toStrictEqual([1, 1]);
    expect(first?.id).not.toBe(second?.id);
  });
});

describe('a dead letter', () => {
  const dead = () => t.app.services.webhooks.deadLetters({ webhookID: hookID }, 100);
  let hookID: string;
  let outcomes: string[];
  /** Gives up the first event of each of ten keys. */
  beforeEach(async () => {
    await t.close();
    outcomes = [];
    const meter = { webhookAttempted: (outcome: string) => void outcomes.push(outcome) } as unknown as Meter;
    const overrides = { dispatcherOptions: { ...quick, retryPolicy: { delaysMs: [1], maxAttempts: 1 } } };
    t = await startOwnApp({}, overrides, {
      meter: new Proxy(meter, { get: (of, name) => Reflect.get(of, name) ?? (() => undefined) }),
    });
    hookID = (await hookTo(t, receiver.url)).id;
    receiver.behavior = () => 500;
    await t.importKeys(...Array.from({ length: 10 }, (_, index) => ({ key_id: `k${index}`, org_id: 'acme' })));
    await until(async () => (await dead()).length === 10);
  });

  it('is counted once, however often its replay fails', async () => {
    const [{ eventID = '' } = {}] = await dead();
    expect(await t.app.services.webhooks.replay({ webhookID: hookID, eventID }, Date.now())).toBe(1);
    await until(
      async () => receiver.received.length === 11 && (await dead()).every(({ dueMs }) => dueMs === undefined),
    );
    expect((await dead()).find((letter) => letter.eventID === eventID)).toMatchObject({ attempts: 1 });
    expect(outcomes.filter((outcome) => outcome === 'dead')).toHaveLength(10);
  });

  it('is not replayed with the event of another key that was created after a purge', async () => {
    receiver.behavior = () => 200;
    expect((await sendRequest(t, 'DELETE', '/svc/org/keys/k0')).status).toBe(200);
    await receiver.until((taken) => taken.length === 1);
    await t.app.services.store.purge(new Date(t.clock.now.getTime() + 1));
    t.clock.now = new Date(t.clock.now.getTime() + 1_000);
    await key('k0');
    // The deletion, the notice of the purge, and the new key.
    await receiver.until((taken) => taken.length === 3);
    await t.app.services.webhooks.replay({ webhookID: hookID }, Date.now());
    await until(async () => (await dead()).length === 0);
    expect(receiver.accepted()).toHaveLength(12);
    expect(receiver.accepted().filter(({ data }) => data.key_hash === hashOf('k0'))).toHaveLength(3);
    expect(t.logLines('the key has been purged with its undelivered events')).toHaveLength(1);
  });

  it('takes one of the four places of retries when it is replayed', async () => {
    let unanswered = 0;
    receiver.behavior = ({ data: { key_hash: keyHash } }) => {
      if (keyHash === hashOf('other')) return 200;
      unanswered += 1;
      return undefined;
    };
    await t.app.services.webhooks.replay({ webhookID: hookID }, Date.now());
    await until(() => unanswered === 4);
    await key('other');
    await receiver.until((taken) => taken.length === 1);
    expect(unanswered).toBe(4);
  });
});

describe('S-01 a webhook', () => {
  it('S-01 contains no secret or identifier of a key in messages and logs, and nothing of its own URL and secret', async () => {
    const { id, secret } = await hookTo(t, `${receiver.url}/CANARY-PATH?token=CANARY-QUERY`, { label: 'to CANARY' });
    let count = 0;
    receiver.behavior = ({ data }) => (data.key_hash === hashOf('CANARY-DEAD') || (count += 1) % 2 === 0 ? 500 : 200);
    const secrets = {
      org_id: 'acme',
      hmac_string: 'CANARY-HMAC',
      jwt_data: { secret: 'CANARY-JWT' },
      basic_auth_data: { password: 'CANARY-PASSWORD' },
    };
    await t.importKeys({ key_id: 'CANARY-KEY-ID', ...secrets }, { key_id: 'CANARY-DEAD', ...secrets });
    const { org_id: _, ...update } = secrets;
    await t.update('CANARY-KEY-ID', { ...update, hmac_string: 'CANARY-SECOND', alias: 'shown' });
    await receiver.until((taken) => taken.length === 2);
    await until(async () => (await standing())?.deadLetters === 1);
    const letters = await t.app.services.webhooks.deadLetters({ webhookID: id }, 10);
    const stderr = [...receiver.received.map(({ body }) => body), t.logs(), JSON.stringify(letters)].join('\n');
    expect(stderr).toContain('webhook attempt');
    expect(stderr).toContain('"hmac_string"');
    expect(stderr).not.toContain('CANARY');
    expect(stderr).not.toContain(secret);
    expect(stderr).not.toContain(secret.slice(6));
    expect(stderr).not.toContain(t.service);
  });
});
