import { beforeEach, describe, expect, it } from 'vitest';
import { retireIdentifiers, retireSilentIdentifiers } from '../../../src/keys/rotate.js';
import { messageOf } from '../../../src/webhooks/event.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { describeConfigurations, makeOwnPlace, type EnginePlace } from '../../support/engines.js';
import { hashOf } from '../../support/factories.js';
import { allEvents } from '../../support/feed.js';
import { codeOf, dataOf, issuesOf } from '../../support/responses.js';

let t: TestApp;
const day = 86_400_000;
const after = (ms: number) => {
  t.clock.now = new Date(t.clock.now.getTime() + ms);
};
const retire = () =>
  retireIdentifiers(t.app.services, (_, error) => {
    throw error;
  });

const retireSilent = async () => {
  await t.app.flushUses();
  return retireSilentIdentifiers(t.app.services, (_, error) => {
    throw error;
  });
};

const mutate = async <T = Record<string, unknown>>(
  call: string,
  variables?: object,
  headers?: Record<string, string>,
) => dataOf<T>(await t.graphql(`mutation { ${call} }`, variables, headers));
const rotate = async (args = 'keyID: "k1"') =>
  await mutate<{ keyID: string; version: number }>(`rotateOrgKey(${args}) { keyID version }`);
const keyFields = `keyHash keyID identifierHash version state
  rotation { oldKeyID oldIdentifierHash retiresAt }
  history { edges { node { version operation actor { label } changes { path kind before after } } } }`;
const read = async (by: string, fields = keyFields) =>
  dataOf<Record<string, unknown> | null>(await t.graphql(`{ orgKey(by: { ${by} }) { ${fields} } }`));
const verify = async (by: string) =>
  await mutate<{ code: string; quota: { used: number } | null }>(`verifyKey(${by}) { code quota { used } }`);
const consume = async (by: string) =>
  codeOf(await t.graphql(`mutation { consumeOrgQuota(${by}) { allowed } }`)) ?? 'OK';

describeConfigurations('the rotation of a key', (engine) => {
  let place: EnginePlace;
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
    await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 100, alias: 'one' });
  });

  it('retires the old identifier when the new one was used and it was silent for the time that was asked for', async () => {
    const minute = 60_000;
    const { keyID } = await rotate('keyID: "k1", silence: 3600');
    expect(await read('keyID: "k1"', 'rotation { retiresAt silence }')).toEqual({
      rotation: { retiresAt: '2026-02-01T12:00:00.000Z', silence: 3600 },
    });
    // Silent, but the new one is not used.
    after(120 * minute);
    expect(await retireSilent()).toBe(0);
    await verify('keyID: "k1"');
    await verify(`keyID: "${keyID}"`);
    after(60 * minute - 1);
    expect(await retireSilent()).toBe(0);
    // A denied request is one, too.
    await verify('keyID: "k1", amount: 1000');
    after(1);
    expect(await retireSilent()).toBe(0);
    after(60 * minute - 2);
    expect(await retireSilent()).toBe(0);
    after(1);
    expect(await retireSilent()).toBe(1);
    expect(await retireSilent()).toBe(0);
    expect(await verify('keyID: "k1"')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await verify(`keyID: "${keyID}"`)).toMatchObject({ code: 'VALID', quota: { used: 3 } });
    const found = await read(
      `keyID: "${keyID}"`,
      'rotation { silence } history(last: 1) { edges { node { operation reason } } }',
    );
    expect(found).toEqual({
      rotation: null,
      history: {
        edges: [
          { node: { operation: 'RETIRE_IDENTIFIER', reason: 'no request with the old identifier for 3600 seconds' } },
        ],
      },
    });
    // A second rotation begins anew, whatever was used before.
    const next = await rotate(`keyID: "${keyID}", silence: 60`);
    await verify(`keyID: "${next.keyID}"`);
    expect(await retireSilent()).toBe(0);
    after(minute);
    expect(await retireSilent()).toBe(1);
  });

  it('looks at many identifiers that may retire early in short pages, between which other work runs', async () => {
    const rows = Array.from({ length: 450 }, (_, n) => `(${place.bytes(hashOf(`old ${n}`))}, ${n + 1}, 5, 60000, 5)`);
    await place.run(`INSERT INTO identifiers (key_hash, key, retires, silence, last_used) VALUES ${rows.join()}`);
    let turns = 0;
    const turn = () => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    for await (const found of t.app.services.store.silent(t.clock.now)) expect(found).toEqual([]);
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(4);
  });

  it('retires no silent identifier without being asked, after a cancellation, or of a deleted key', async () => {
    const silent = async () => {
      after(day / 4);
      return retireSilent();
    };
    const first = await rotate();
    await verify(`keyID: "${first.keyID}"`);
    expect(await silent()).toBe(0);
    await mutate('cancelKeyRotation(keyID: "k1") { version }');
    const second = await rotate('keyID: "k1", silence: 60');
    await verify(`keyID: "${second.keyID}"`);
    await t.app.flushUses();
    await mutate('cancelKeyRotation(keyID: "k1") { version }');
    expect(await silent()).toBe(0);
    expect(await verify('keyID: "k1"')).toMatchObject({ code: 'VALID' });
    const third = await rotate('keyID: "k1", silence: 60, overlap: 864000');
    await verify(`keyID: "${third.keyID}"`);
    await t.app.flushUses();
    await mutate('deleteOrgKey(keyID: "k1") { version }');
    expect(await silent()).toBe(0);
    await mutate('restoreOrgKey(keyID: "k1") { version }');
    expect(await silent()).toBe(1);
    for (const silence of ['59', '0', '-1', '7776001']) {
      const rejected = await t.graphql(
        `mutation { rotateOrgKey(keyID: "${third.keyID}", silence: ${silence}) { version } }`,
      );
      expect(issuesOf(rejected)).toEqual(['silence OUT_OF_RANGE']);
    }
  });

  it('accepts both identifiers until the old one retires, with one version, history and counter', async () => {
    const before = await read('keyID: "k1"', 'id keyHash');
    const { keyID, version } = await rotate();
    expect(version).toBe(2);
    expect(keyID).toMatch(/^acme_[\da-f]{32}/);
    for (const by of [
      `keyID: "k1"`,
      `keyID: "${keyID}"`,
      `keyHash: "${hashOf('k1')}"`,
      `keyHash: "${hashOf(keyID)}"`,
    ]) {
      expect(await read(by)).toMatchObject({
        keyID,
        keyHash: hashOf('k1'),
        identifierHash: hashOf(keyID),
        version: 2,
        rotation: { oldKeyID: 'k1', oldIdentifierHash: hashOf('k1'), retiresAt: '2026-02-01T12:00:00.000Z' },
      });
      expect(await read(by, 'id keyHash')).toEqual(before);
    }
    expect(await verify('keyID: "k1"')).toMatchObject({ code: 'VALID', quota: { used: 1 } });
    expect(await verify(`keyID: "${keyID}"`)).toMatchObject({ code: 'VALID', quota: { used: 2 } });
    expect(await consume('keyID: "k1"')).toBe('OK');
    expect(await consume(`keyID: "${keyID}"`)).toBe('OK');
    expect(await consume(`keyHash: "${hashOf(keyID)}"`)).toBe('OK');
    expect(await verify(`keyHash: "${hashOf(keyID)}"`)).toMatchObject({ quota: { used: 6 } });

    expect(await mutate('patchOrgKey(keyID: "k1", patch: { alias: "two" }, expectedVersion: 2) { version }')).toEqual({
      version: 3,
    });
    expect(
      await mutate(`patchOrgKey(keyID: "${keyID}", patch: { alias: "three" }, expectedVersion: 3) { version }`),
    ).toEqual({ version: 4 });

    // Rejected from the very time on, whether or not the end is recorded.
    after(day - 1);
    expect(await verify('keyID: "k1"')).toMatchObject({ code: 'VALID' });
    after(1);
    const isEnded = async () => {
      expect(await verify('keyID: "k1"')).toMatchObject({ code: 'NOT_FOUND' });
      expect(await verify(`keyHash: "${hashOf('k1')}"`)).toMatchObject({ code: 'NOT_FOUND' });
      expect(await consume('keyID: "k1"')).toBe('NOT_FOUND');
      expect(await consume(`keyHash: "${hashOf('k1')}"`)).toBe('NOT_FOUND');
      expect(await read('keyID: "k1"')).toBeNull();
      expect(codeOf(await t.graphql('mutation { deleteOrgKey(keyID: "k1") { version } }'))).toBe('NOT_FOUND');
      expect(await read(`keyHash: "${hashOf('k1')}"`, 'keyID rotation { retiresAt }')).toEqual({
        keyID,
        rotation: null,
      });
    };
    await isEnded();
    expect(await retire()).toBe(1);
    expect(await retire()).toBe(0);
    await isEnded();
    expect(await verify(`keyID: "${keyID}"`)).toMatchObject({ code: 'VALID', quota: { used: 8 } });

    const key = await read(`keyID: "${keyID}"`);
    const entries = (key?.['history'] as { edges: { node: Record<string, unknown> }[] }).edges.map(({ node }) => node);
    expect(entries).toMatchObject([
      { version: 1, operation: 'IMPORT' },
      {
        version: 2,
        operation: 'ROTATE',
        changes: [
          { path: 'identifierHash', kind: 'CHANGED', before: hashOf('k1'), after: hashOf(keyID) },
          { path: 'oldIdentifierHash', kind: 'ADDED', after: hashOf('k1') },
          { path: 'retiresAt', kind: 'ADDED', after: '2026-02-01T12:00:00.000Z' },
        ],
      },
      { version: 3, operation: 'UPDATE' },
      { version: 4, operation: 'UPDATE' },
      {
        version: 5,
        operation: 'RETIRE_IDENTIFIER',
        actor: { label: 'Keyfront' },
        changes: [
          { path: 'oldIdentifierHash', kind: 'REMOVED' },
          { path: 'retiresAt', kind: 'REMOVED' },
        ],
      },
    ]);
    // Nobody can create another key with an identifier that this one has or had first.
    for (const taken of ['k1', keyID]) {
      expect(
        codeOf(await t.graphql(`mutation { createOrgKey(keyID: "${taken}", input: { orgID: "acme" }) { version } }`)),
      ).toBe('CONFLICT');
    }
  });

  it('rotates again and again: the key keeps its hash', async () => {
    let old = 'k1';
    const retired: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const { keyID } = await rotate(`keyID: "${old}", overlap: 10, prefix: "p${n}"`);
      expect(keyID).toMatch(new RegExp(`^p${n}_`));
      expect(await verify(`keyID: "${old}"`)).toMatchObject({ code: 'VALID' });
      after(10_000);
      await retire();
      expect(await verify(`keyID: "${old}"`)).toMatchObject({ code: 'NOT_FOUND' });
      retired.push(old);
      old = keyID;
    }
    expect(await read(`keyID: "${old}"`)).toMatchObject({ keyHash: hashOf('k1'), version: 7 });
    expect(await verify(`keyID: "${old}"`)).toMatchObject({ quota: { used: 4 } });
    // An identifier that has retired is free for another key, except the first one, whose hash is the name of this one.
    for (const [index, gone] of retired.entries()) {
      const created = await t.graphql(
        `mutation { createOrgKey(keyID: "${gone}", input: { orgID: "acme" }) { version } }`,
      );
      expect(codeOf(created)).toBe(index === 0 ? 'CONFLICT' : undefined);
      if (index > 0) await mutate(`deleteOrgKey(keyID: "${gone}") { version }`);
    }
    // The end that nobody has recorded yet does not prevent the next rotation.
    const { keyID } = await rotate(`keyID: "${old}", overlap: 10`);
    after(10_000);
    const next = await rotate(`keyID: "${keyID}", overlap: 10`);
    for (const gone of ['k1', old]) expect(await verify(`keyID: "${gone}"`)).toMatchObject({ code: 'NOT_FOUND' });
    for (const one of [keyID, next.keyID]) expect(await verify(`keyID: "${one}"`)).toMatchObject({ code: 'VALID' });
  });

  it('rejects the old identifier at once without an overlap', async () => {
    const { keyID } = await rotate('keyID: "k1", overlap: 0');
    expect(await verify('keyID: "k1"')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await read(`keyID: "${keyID}"`)).toMatchObject({ rotation: null });
    expect(issuesOf(await t.graphql(`mutation { cancelKeyRotation(keyID: "${keyID}") { version } }`))).toEqual([
      'rotation NO_ROTATION',
    ]);
    expect(await retire()).toBe(0);
  });

  it('rejects a second rotation while one runs, and another version than expected', async () => {
    const { keyID } = await rotate();
    for (const one of ['k1', keyID]) {
      const rejected = await t.graphql(`mutation { rotateOrgKey(keyID: "${one}") { version } }`);
      expect(codeOf(rejected)).toBe('CONFLICT');
      expect(issuesOf(rejected)).toEqual(['rotation ROTATION_RUNNING']);
    }
    for (const call of ['rotateOrgKey', 'cancelKeyRotation']) {
      expect(codeOf(await t.graphql(`mutation { ${call}(keyID: "k1", expectedVersion: 1) { version } }`))).toBe(
        'CONFLICT',
      );
    }
    expect(await read('keyID: "k1"')).toMatchObject({ version: 2, keyID });
  });

  it('cancels: the old identifier stays, the new one is rejected, the count stays', async () => {
    const { keyID } = await rotate();
    await verify(`keyID: "${keyID}"`);
    expect(
      await mutate(`cancelKeyRotation(keyID: "${keyID}", reason: "too early") { version orgKey { keyID } }`),
    ).toEqual({
      version: 3,
      orgKey: { keyID: 'k1' },
    });
    expect(await verify(`keyID: "${keyID}"`)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await verify('keyID: "k1"')).toMatchObject({ code: 'VALID', quota: { used: 2 } });
    expect(await read('keyID: "k1"')).toMatchObject({ identifierHash: hashOf('k1'), rotation: null });
    after(2 * day);
    expect(await retire()).toBe(0);
    expect(await verify('keyID: "k1"')).toMatchObject({ code: 'VALID' });
    // A key that was rotated before gets the identifier back that it had then.
    const first = await rotate('keyID: "k1", overlap: 0');
    const second = await rotate(`keyID: "${first.keyID}"`);
    await mutate(`cancelKeyRotation(keyID: "${first.keyID}") { version }`);
    for (const gone of ['k1', second.keyID])
      expect(await verify(`keyID: "${gone}"`)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await read(`keyID: "${first.keyID}"`)).toMatchObject({ keyID: first.keyID, keyHash: hashOf('k1') });
  });

  it('repeats a request with an idempotency key: one rotation, and the same identifier', async () => {
    const first = await rotate('keyID: "k1", idempotencyKey: "once"');
    expect(await rotate('keyID: "k1", idempotencyKey: "once"')).toEqual(first);
    after(day);
    await retire();
    t.clock.now = new Date(t.clock.now.getTime() - 1);
    expect(await rotate('keyID: "k1", idempotencyKey: "once"')).toEqual(first);
    expect(
      codeOf(await t.graphql('mutation { rotateOrgKey(keyID: "k1", overlap: 1, idempotencyKey: "once") { version } }')),
    ).toBe('INVALID');
    // A gateway that repeats a request is counted once, also by the new identifier.
    for (let n = 0; n < 2; n += 1) await verify(`keyID: "${first.keyID}", idempotencyKey: "r"`);
    const again = `mutation { consumeOrgQuota(keyID: "${first.keyID}", idempotencyKey: "c") { allowed } }`;
    for (let n = 0; n < 2; n += 1) expect(codeOf(await t.graphql(again))).toBeUndefined();
    expect(await verify(`keyID: "${first.keyID}"`)).toMatchObject({ quota: { used: 3 } });
  });

  it('stops both identifiers by a deletion, and accepts both after a restore', async () => {
    const { keyID } = await rotate();
    await mutate(`deleteOrgKey(keyID: "k1") { version }`);
    for (const one of ['k1', keyID]) expect((await verify(`keyID: "${one}"`)).code).not.toBe('VALID');
    after(day + 1);
    // A deleted key has no changes.
    expect(await retire()).toBe(0);
    await mutate(`restoreOrgKey(keyID: "${keyID}") { version }`);
    expect(await verify('keyID: "k1"')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await verify(`keyID: "${keyID}"`)).toMatchObject({ code: 'VALID' });
    expect(await retire()).toBe(1);
  });

  it('keeps the identifiers when the definition is reverted', async () => {
    await mutate('patchOrgKey(keyID: "k1", patch: { alias: "two" }) { version }');
    const { keyID } = await rotate();
    await mutate(`revertOrgKey(keyID: "${keyID}", toVersion: 1) { version }`);
    expect(await read(`keyID: "${keyID}"`, 'keyID definition { alias } rotation { oldKeyID }')).toEqual({
      keyID,
      definition: { alias: 'one' },
      rotation: { oldKeyID: 'k1' },
    });
  });

  it('removes both identifiers by a purge', async () => {
    const { keyID } = await rotate();
    await mutate('deleteOrgKey(keyID: "k1") { version }');
    expect(await t.app.services.store.purge(new Date(t.clock.now.getTime() + 1))).toBe(1);
    expect((await t.app.services.store.namesOf([hashOf('k1'), hashOf(keyID)])).size).toBe(0);
    for (const one of ['k1', keyID]) {
      expect(
        codeOf(await t.graphql(`mutation { createOrgKey(keyID: "${one}", input: { orgID: "acme" }) { version } }`)),
      ).toBeUndefined();
    }
    expect(await verify(`keyID: "${keyID}"`)).toMatchObject({ code: 'VALID', quota: { used: 0 } });
  });

  it('is not found by another organization, by any name', async () => {
    const { keyID } = await rotate();
    const { secret } = await t.issue('service', { orgID: 'globex' });
    for (const by of [`keyID: "k1"`, `keyID: "${keyID}"`, `keyHash: "${hashOf(keyID)}"`]) {
      for (const call of [`rotateOrgKey(${by}) { version }`, `cancelKeyRotation(${by}) { version }`]) {
        expect(codeOf(await t.graphql(`mutation { ${call} }`, {}, { 'x-svc-authorization': secret }))).toBe(
          'NOT_FOUND',
        );
      }
    }
    expect(await read('keyID: "k1"')).toMatchObject({ version: 2 });
  });

  it('never grants more than the quota over both identifiers', async () => {
    const { keyID } = await rotate();
    const clients = Array.from({ length: 32 }, async (_, index) => {
      let granted = 0;
      for (let n = 0; n < 8; n += 1) {
        if ((await verify(`keyID: "${(index + n) % 2 === 0 ? 'k1' : keyID}"`)).code === 'VALID') granted += 1;
      }
      return granted;
    });
    const granted = (await Promise.all(clients)).reduce((sum, one) => sum + one, 0);
    expect(granted).toBe(100);
  });

  it('sends events that name the key and the hashes of its identifiers', async () => {
    const { keyID } = await rotate('keyID: "k1", overlap: 60');
    after(60_000);
    await retire();
    const events = await allEvents(t, place);
    const messages = events.flatMap(({ entry }) => (entry ? [JSON.parse(messageOf(entry).body) as object] : []));
    const data = { key_hash: hashOf('k1'), org_id: 'acme' };
    expect(messages).toMatchObject([
      { type: 'orgKey.imported', data },
      {
        type: 'orgKey.rotated',
        data: {
          ...data,
          changes: [
            { path: 'identifier_hash', before: hashOf('k1'), after: hashOf(keyID) },
            { path: 'old_identifier_hash', after: hashOf('k1') },
            { path: 'retires_at', after: '2026-01-31T12:01:00.000Z' },
          ],
        },
      },
      { type: 'orgKey.identifierRetired', data: { ...data, changes: [{ kind: 'REMOVED' }, { kind: 'REMOVED' }] } },
    ]);
    expect(JSON.stringify(messages)).not.toContain(keyID);
  });

  it('finds no key by a row that was added or changed, and reports one that is missing', async () => {
    await t.importKeys({ key_id: 'k2', org_id: 'acme' }, { key_id: 'k3', org_id: 'acme' });
    const { keyID } = await rotate();
    const other = await rotate('keyID: "k2"');
    const indexed = async () => {
      const found = new Map<string, boolean>();
      for await (const { keyHash, isIndexed } of t.app.services.store.verifyIntegrity()) found.set(keyHash, isIndexed);
      return ['k1', 'k2', 'k3'].map((one) => found.get(hashOf(one)));
    };
    expect(await indexed()).toEqual([true, true, true]);
    const hash = (of: string) => place.bytes(hashOf(of));
    const keyOf = (of: string) => `(SELECT id FROM keys WHERE key_hash = ${hash(of)})`;
    await place.tamper(
      `INSERT INTO identifiers (key_hash, key) VALUES (${hash('attacker')}, ${keyOf('k3')})`,
      `UPDATE identifiers SET key = ${keyOf('k3')} WHERE key_hash = ${hash(other.keyID)}`,
      `DELETE FROM identifiers WHERE key_hash = ${hash(keyID)}`,
    );
    expect(await verify('keyID: "attacker"')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await read('keyID: "attacker"')).toBeNull();
    expect(await verify(`keyID: "${other.keyID}"`)).toMatchObject({ code: 'NOT_FOUND' });
    expect(codeOf(await t.graphql(`mutation { deleteOrgKey(keyID: "${other.keyID}") { version } }`))).toBe('NOT_FOUND');
    expect(await indexed()).toEqual([false, false, true]);
    // A changed row of the key is an error, as ever.
    await place.tamper(`UPDATE keys SET identifiers = NULL WHERE key_hash = ${hash('k1')}`);
    expect(codeOf(await t.graphql('{ orgKey(by: { keyID: "k1" }) { version } }'))).toBe('INTERNAL');
  });

  it('loads many keys by any of their identifiers', async () => {
    await t.importKeys({ key_id: 'k2', org_id: 'acme' });
    const { keyID } = await rotate();
    const response = await t.graphql(`{
      a: orgKey(by: { keyID: "k2" }) { keyHash } b: orgKey(by: { keyID: "${keyID}" }) { keyHash }
      c: orgKey(by: { keyID: "k1" }) { keyHash } d: orgKey(by: { keyID: "none" }) { keyHash }
    }`);
    expect(response.body['data']).toEqual({
      a: { keyHash: hashOf('k2') },
      b: { keyHash: hashOf('k1') },
      c: { keyHash: hashOf('k1') },
      d: null,
    });
  });
});

describe('the arguments of a rotation', () => {
  beforeEach(async () => {
    t = await startOwnApp();
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
  });

  it.each([
    ['overlap: -1', 'overlap', 'OUT_OF_RANGE'],
    ['overlap: 7776001', 'overlap', 'OUT_OF_RANGE'],
    ['prefix: "a b"', 'prefix', 'MALFORMED_KEY_ID'],
    [`reason: "${'x'.repeat(501)}"`, 'reason', 'TOO_LONG'],
    ['idempotencyKey: "é"', 'idempotencyKey', 'MALFORMED_ARGUMENT'],
  ])('%s is INVALID and changes nothing', async (argument, path, code) => {
    const response = await t.graphql(`mutation { rotateOrgKey(keyID: "k1", ${argument}) { version } }`);
    expect([codeOf(response), issuesOf(response)]).toEqual(['INVALID', [`${path} ${code}`]]);
    expect(await read('keyID: "k1"')).toMatchObject({ version: 1, rotation: null });
  });

  it('logs no identifier', async () => {
    const { keyID } = await rotate();
    await mutate(`cancelKeyRotation(keyID: "${keyID}") { version }`);
    expect(t.logs()).not.toContain(keyID);
  });
});
