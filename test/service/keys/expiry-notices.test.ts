import { beforeEach, expect, it } from 'vitest';
import { noticeToJSON } from '../../../src/cli/changes.js';
import { bindOperations } from '../../../src/cli/client/operations.js';
import { createKeyService } from '../../../src/keys/key-service.js';
import { recordExpiryNotices } from '../../../src/keys/expiry-notices.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../../support/engines.js';
import { hashOf } from '../../support/factories.js';
import { allEvents } from '../../support/feed.js';
import { startOwnReceiver } from '../../support/receiver.js';
import { dataOf } from '../../support/responses.js';
import { until } from '../../support/until.js';
import { hookTo, quick } from '../../support/webhooks.js';

const day = 86_400;
const days = [30, 7, 1];

describeEngines('notices of keys that expire', (engine) => {
  let place: EnginePlace;
  let t: TestApp;
  let start: number;

  const sweep = (service = t) => recordExpiryNotices(service.app.services, days);
  /** Sets the clock to so many days after the start. */
  const at = (elapsed: number) => {
    t.clock.now = new Date((start + elapsed * day) * 1000);
  };
  const inDays = (count: number) => Math.round(start + count * day);
  const events = () => allEvents(t, place);
  const latestCursor = async () => (await events()).at(-1)?.cursor;
  const notices = async () =>
    (await events()).flatMap(({ notice }) => (notice ? [`${notice.kind} ${notice.daysBefore ?? ''}`.trim()] : []));
  const importKey = (keyID: string, expires: number, orgID = 'acme') =>
    t.importKeys({ key_id: keyID, org_id: orgID, expires });

  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env, { dispatcherOptions: quick });
    start = t.clock.now.getTime() / 1000;
    await sweep();
  });

  it('come 30, 7 and 1 days before, and when it expires, each once', async () => {
    await importKey('k1', inDays(40));
    await t.importKeys({ key_id: 'forever', org_id: 'acme', expires: 0 });
    const seen: [number, readonly string[]][] = [];
    let before = 0;
    for (let hour = 0; hour <= 42 * 24; hour += 6) {
      at(hour / 24 + 1 / 1440);
      await sweep();
      await sweep();
      const found = await notices();
      if (found.length > before) seen.push([hour / 24, found.slice(before)]);
      before = found.length;
    }
    expect(seen).toEqual([
      [10, ['expiring 30']],
      [33, ['expiring 7']],
      [39, ['expiring 1']],
      [40, ['expired']],
    ]);
    expect((await events()).find(({ notice }) => notice)?.notice).toEqual({
      id: expect.stringMatching(/^evt_[\da-f]{32}$/),
      kind: 'expiring',
      at: new Date((start + 10 * day + 60) * 1000),
      keyHash: hashOf('k1'),
      orgID: 'acme',
      version: 1,
      expires: BigInt(inDays(40)),
      daysBefore: 30,
    });
  });

  it('are recorded once by services that look at the same time', async () => {
    const other = await startOwnApp(place.env);
    for (let index = 0; index < 130; index += 1) await importKey(`k${index}`, inDays(31));
    at(1.01);
    other.clock.now = t.clock.now;
    const sweeps = await Promise.all([sweep(), sweep(other), sweep(), sweep(other)]);
    expect(sweeps.reduce((sum, { recorded }) => sum + recorded, 0)).toBe(130);
    expect(await notices()).toEqual(Array.from({ length: 130 }, () => 'expiring 30'));
  });

  it('are recorded once when the clock goes forward and back', async () => {
    await importKey('k1', inDays(20));
    at(25);
    await sweep();
    expect(await notices()).toEqual(['expired']);
    at(0);
    await sweep();
    // Set while the position was ahead.
    await importKey('k2', inDays(8));
    at(2);
    await sweep();
    expect(await notices()).toEqual(['expired', 'expiring 7']);
    at(25);
    await sweep();
    await sweep();
    expect((await notices()).toSorted()).toEqual(['expired', 'expiring 7']);
  });

  it('begin anew with another expiry time', async () => {
    await importKey('k1', inDays(8));
    at(1.5);
    await sweep();
    expect((await t.update('k1', { expires: inDays(12) })).status).toBe(200);
    at(5.5);
    await sweep();
    // A time that was noticed before is not noticed again.
    expect((await t.update('k1', { expires: inDays(8) })).status).toBe(200);
    at(7.5);
    await sweep();
    expect(await notices()).toEqual(['expiring 7', 'expiring 7', 'expiring 1']);
  });

  it('name the latest stage only after a time without a service', async () => {
    await importKey('k1', inDays(40));
    at(39.5);
    await sweep();
    expect(await notices()).toEqual(['expiring 1']);
    at(41);
    await sweep();
    expect(await notices()).toEqual(['expiring 1', 'expired']);
  });

  it('are not recorded for keys that expired long ago, which are counted once', async () => {
    for (let index = 0; index < 60; index += 1) await importKey(`k${index}`, inDays(10));
    await importKey('k60', inDays(25));
    at(30);
    expect(await sweep()).toMatchObject({ recorded: 1, late: 60, damaged: 0 });
    expect(await sweep()).toMatchObject({ recorded: 0, late: 0 });
    await importKey('old', inDays(-1_000));
    at(31);
    expect(await sweep()).toMatchObject({ recorded: 0, late: 0 });
    expect(await notices()).toEqual(['expired']);
  });

  it('are not recorded for deleted and damaged keys', async () => {
    for (const name of ['gone', 'damaged', 'good']) await importKey(name, inDays(8));
    await t.graphql('mutation { deleteOrgKey(keyID: "gone") { version } }');
    await place.tamper(`UPDATE keys SET quota_used = 5 WHERE key_hash = ${place.bytes(hashOf('damaged'))}`);
    at(1.5);
    expect(await sweep()).toEqual({ recorded: 1, late: 0, damaged: 1, hasMore: false });
    expect((await events()).flatMap(({ notice }) => notice?.keyHash ?? [])).toEqual([hashOf('good')]);
  });

  it('change nothing of the key, its version and its history', async () => {
    await importKey('k1', inDays(8));
    const read = async () =>
      dataOf(
        await t.graphql(
          '{ orgKey(by: { keyID: "k1" }) { id version history { edges { cursor node { version operation } } } } }',
        ),
      );
    const before = await read();
    at(1.5);
    await sweep();
    expect(await notices()).toEqual(['expiring 7']);
    expect(await read()).toEqual(before);
    const patched = await t.graphql(
      'mutation { patchOrgKey(keyID: "k1", patch: { alias: "two" }, expectedVersion: 1) { version } }',
    );
    expect(dataOf(patched)).toEqual({ version: 2 });
    const reverted = await t.graphql('mutation { revertOrgKey(keyID: "k1", toVersion: 1) { version } }');
    expect(dataOf(reverted)).toEqual({ version: 3 });
    for await (const report of t.app.services.store.verifyIntegrity()) {
      expect(report).toMatchObject({ exists: true, isHistoryIntact: true, isIndexed: true });
    }
    expect((await t.app.services.checkpoints.advance({ purgedBefore: new Date(0) })).rollbacks).toEqual([]);
  });

  it('stay when the key is purged, and are removed after 90 days', async () => {
    await importKey('k1', inDays(8));
    at(1.5);
    await sweep();
    await t.graphql('mutation { deleteOrgKey(keyID: "k1") { version } }');
    const { store } = t.app.services;
    expect(await store.purge(new Date(t.clock.now.getTime() + 1), t.clock.now)).toBe(1);
    expect(await notices()).toEqual(['expiring 7', 'purged']);
    const purged = (await events()).find(({ notice }) => notice?.kind === 'purged')?.notice;
    expect(purged).toMatchObject({ keyHash: hashOf('k1'), orgID: 'acme', version: 2, at: t.clock.now });
    expect(JSON.stringify(await place.rows('SELECT notice FROM history WHERE version = 0'))).not.toContain('"k1"');
    for await (const report of store.verifyIntegrity()) expect(report).toBeUndefined();
    // The same identifier and time: another key.
    await importKey('k1', inDays(8.55));
    at(1.6);
    await sweep();
    expect((await notices()).filter((text) => text === 'expiring 7')).toHaveLength(2);
    expect(await store.purgeNotices(new Date((start + 1.55 * day) * 1000))).toBeGreaterThanOrEqual(1);
    expect((await notices()).filter((text) => text === 'expiring 7')).toHaveLength(1);
  });

  it('reach the subscriptions of their organization only', async () => {
    await importKey('k1', inDays(8));
    await importKey('z1', inDays(8), 'zeta');
    const after = await latestCursor();
    at(1.5);
    await sweep();
    const { secret } = await t.issue('service', { orgID: 'zeta' });
    const document = `subscription { orgKeyChanged(after: "${after}") { __typename cursor
      ... on OrgKeyNoticed { keyHash orgID key { version }
        notice { eventID kind at version expiresAt daysBefore threshold quotaUsed quotaMax quotaRenewsAt } } } }`;
    const { body } = await t.graphql(document, {}, { 'x-svc-authorization': secret });
    expect(body).toEqual({
      data: {
        orgKeyChanged: {
          __typename: 'OrgKeyNoticed',
          cursor: expect.any(String),
          keyHash: hashOf('z1'),
          orgID: 'zeta',
          key: { version: 1 },
          notice: {
            eventID: expect.stringMatching(/^evt_[\da-f]{32}$/),
            kind: 'EXPIRING',
            at: new Date((start + 1.5 * day) * 1000).toISOString(),
            version: 1,
            expiresAt: new Date(inDays(8) * 1000).toISOString(),
            daysBefore: 7,
            threshold: null,
            quotaUsed: null,
            quotaMax: null,
            quotaRenewsAt: null,
          },
        },
      },
    });
  });

  it('are followed by the command line, here and at a service', async () => {
    await importKey('k1', inDays(8));
    const request = { orgID: undefined, keyHash: undefined, after: await latestCursor() };
    at(1.5);
    await sweep();
    const caller = { credentialID: 'cli', label: 'test', orgID: undefined, requestID: '' };
    const clients = [
      bindOperations({ local: { keys: createKeyService(t.app.services.ports), caller } }),
      bindOperations({
        remote: {
          send: () => Promise.reject(new Error('not used')),
          subscribe: async function* (document, variables) {
            yield (await t.graphql(document, variables)).body;
          },
        },
      }),
    ];
    for (const client of clients) {
      const stop = new AbortController();
      for await (const { notice, change, isUnreadable } of client.follow(request, stop.signal)) {
        stop.abort();
        expect([change, isUnreadable]).toEqual([undefined, false]);
        expect(notice && noticeToJSON(notice)).toEqual({
          event: 'orgKey.expiring',
          event_id: expect.stringMatching(/^evt_[\da-f]{32}$/),
          at: new Date((start + 1.5 * day) * 1000).toISOString(),
          version: 1,
          expires: BigInt(inDays(8)),
          days_before: 7,
        });
      }
    }
  });

  it('are read with their key, the newest first, and not with a later key of the same identifier', async () => {
    await importKey('k1', inDays(31));
    const read = async () => {
      const { body } = await t.graphql('{ orgKey(by: { keyID: "k1" }) { notices { kind daysBefore } } }');
      return (body as { data: { orgKey: { notices: object[] } } }).data.orgKey.notices;
    };
    expect(await read()).toEqual([]);
    for (const elapsed of [1.5, 24.5]) {
      at(elapsed);
      await sweep();
    }
    expect(await read()).toEqual([
      { kind: 'EXPIRING', daysBefore: 7 },
      { kind: 'EXPIRING', daysBefore: 30 },
    ]);
    await t.graphql('mutation { deleteOrgKey(keyID: "k1") { version } }');
    await t.app.services.store.purge(new Date(t.clock.now.getTime() + 1), t.clock.now);
    await importKey('k1', inDays(100));
    expect(await read()).toEqual([]);
  });

  it('reach the webhooks of their organization, and are retried', async () => {
    const [receiver, others] = [await startOwnReceiver(), await startOwnReceiver()];
    await importKey('k1', inDays(8));
    // A webhook receives what the feed delivers after its creation.
    await events();
    await hookTo(t, receiver.url, { orgID: 'acme' });
    await hookTo(t, others.url, { orgID: 'zeta' });
    let tries = 0;
    receiver.behavior = () => ((tries += 1) < 3 ? 500 : 200);
    at(1.5);
    await sweep();
    await receiver.until((taken) => taken.length === 1);
    const [message] = receiver.accepted();
    expect(message).toMatchObject({
      type: 'orgKey.expiring',
      data: { org_id: 'acme', key_hash: hashOf('k1'), version: 1, expires: inDays(8), days_before: 7 },
    });
    expect(message?.data.id).toBe(message?.id);
    expect(message?.body).not.toContain('"k1"');
    at(8.5);
    await sweep();
    await receiver.until((taken) => taken.length === 2);
    expect(receiver.accepted().map(({ type }) => type)).toEqual(['orgKey.expiring', 'orgKey.expired']);
    await until(async () => (await place.rows('SELECT 1 AS one FROM webhook_deliveries')).length === 0);
    expect(others.received).toEqual([]);
  });

  it('are skipped when they fail their integrity check, and do not stop those behind', async () => {
    for (const name of ['k1', 'k2']) await importKey(name, inDays(8));
    const receiver = await startOwnReceiver();
    await events();
    await hookTo(t, receiver.url);
    at(1.5);
    receiver.behavior = ({ data }) => (data.key_hash === hashOf('k1') ? 500 : 200);
    await sweep();
    const taken = () => receiver.accepted().filter(({ type }) => type === 'orgKey.expiring');
    await receiver.until(() => taken().length > 0);
    await place.tamper(
      `UPDATE history SET notice = '{}' WHERE key_hash = ${place.bytes(hashOf('k1'))} AND version = 0`,
    );
    const found = (await events()).filter(({ noticeID }) => noticeID !== undefined);
    expect(Object.fromEntries(found.map(({ keyHash, notice }) => [keyHash, notice?.kind]))).toEqual({
      [hashOf('k1')]: undefined,
      [hashOf('k2')]: 'expiring',
    });
    expect(taken().map(({ data }) => data.key_hash)).toEqual([hashOf('k2')]);
    await expect(t.app.services.store.notice(found.find(({ notice }) => !notice)?.noticeID ?? '')).rejects.toThrow(
      'failed its integrity check',
    );
  });
});
