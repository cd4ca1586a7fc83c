import { beforeEach, describe, expect, it } from 'vitest';
import {
  createClient,
  editOrgKey,
  KeyfrontError,
  OrgKeyDocument,
  PatchOrgKeyDocument,
  toInput,
  toPatch,
  UpdateOrgKeyDocument,
  type UpdateKeyInput,
} from '../../../src/client/client.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { fullUpdate } from '../../support/factories.js';
import { stateOf } from '../../support/state.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
  await t.importKeys({ key_id: 'k1', ...fullUpdate, meta_data: { none: null, big: 9007199254740993n } });
});

const client = () =>
  createClient({
    url: 'http://keyfront.test',
    service: t.service,
    fetch: (input, init) => Promise.resolve(t.app.fetch(new Request(input, init))),
  });

describe('toInput', () => {
  it('makes an update that changes nothing of a definition that was read', async () => {
    const before = await stateOf(t, 'k1');
    const { data } = await client().send(OrgKeyDocument, { by: { keyID: 'k1' }, first: 1 });
    if (!data.orgKey?.definition) throw new Error('The key of the test is missing.');
    const input = toInput(data.orgKey.definition);
    const updated = await client().send(UpdateOrgKeyDocument, { keyID: 'k1', input });
    expect(updated.data.updateOrgKey).toMatchObject({ orgKey: { version: 1 }, changes: [], warnings: [] });
    expect(await stateOf(t, 'k1')).toStrictEqual(before);
  });
});

describe('toPatch', () => {
  const right = (label: string, more: object = {}) => ({ label, apiID: label, limit: { rate: 1, per: 2 }, ...more });

  it.each<[string, UpdateKeyInput, UpdateKeyInput, object]>([
    ['is empty for the same definition', { alias: 'a', tags: ['x'] }, { alias: 'a', tags: ['x'] }, {}],
    ['sets and clears fields', { alias: 'a', rate: 1 }, { rate: 2, per: 3 }, { alias: null, rate: 2, per: 3 }],
    [
      'names the changed members of an object',
      { smoothing: { enabled: false, step: 1, delay: 5 }, metaData: { a: 1, b: { c: 2 } } },
      { smoothing: { enabled: false, delay: 6 }, metaData: { b: { c: 3 } } },
      { smoothing: { step: null, delay: 6 }, metaData: { a: null, b: { c: 3 } } },
    ],
    [
      'lists all access rights, each with its changed fields',
      { accessRights: [right('a'), right('b'), right('c')] },
      { accessRights: [right('b'), { label: 'a', limit: { rate: 9, per: 2 } }, right('d')] },
      { accessRights: [{ label: 'b' }, { label: 'a', apiID: null, limit: { rate: 9 } }, right('d')] },
    ],
    ['replaces lists', { tags: ['a', 'b'] }, { tags: ['b'] }, { tags: ['b'] }],
  ])('%s', async (_, before, after, patch) => {
    expect(toPatch(before, after)).toStrictEqual(patch);
    await t.importKeys({ key_id: 'k2', org_id: 'acme' });
    const send = (definition: UpdateKeyInput) =>
      client().send(UpdateOrgKeyDocument, { keyID: 'k2', input: definition, resetQuota: true });
    await send(after);
    const expected = (await stateOf(t, 'k2')).key?.definition;
    await send(before);
    await client().send(PatchOrgKeyDocument, { keyID: 'k2', patch: toPatch(before, after) });
    expect((await stateOf(t, 'k2')).key?.definition).toEqual(expected);
  });

  it('keeps a field that the client does not know', async () => {
    const { alias: _, ...known } = fullUpdate;
    expect(toPatch(known as UpdateKeyInput, { ...known, rate: 7 } as UpdateKeyInput)).toStrictEqual({ rate: 7 });
  });
});

describe('editOrgKey', () => {
  it('changes the edited fields only, with its reason', async () => {
    const result = await editOrgKey(client(), 'k1', (input) => ({ ...input, alias: 'edited' }), { reason: 'OPS-17' });
    expect(result).toMatchObject({ orgKey: { version: 2 }, changes: [{ path: 'alias', kind: 'CHANGED' }] });
    expect((await stateOf(t, 'k1')).audit.at(-1)?.reason).toBe('OPS-17');
  });

  it('edits the newer definition after a CONFLICT', async () => {
    const tags: unknown[] = [];
    const others = ['one', 'two'];
    const racing = {
      send: async (...args: Parameters<ReturnType<typeof client>['send']>) => {
        const [document] = args;
        const other = (document as unknown) === PatchOrgKeyDocument ? others.shift() : undefined;
        if (other !== undefined) await t.update('k1', { tags: [other] });
        return client().send(...args);
      },
    } as ReturnType<typeof client>;
    const result = await editOrgKey(racing, 'k1', (input) => {
      tags.push(input.tags);
      return { ...input, tags: [...(input.tags ?? []), 'own'] };
    });
    expect(tags).toStrictEqual([fullUpdate.tags, ['one'], ['two']]);
    expect([result.version, result.orgKey?.definition?.tags]).toStrictEqual([4, ['two', 'own']]);
  });

  it('throws CONFLICT after the last attempt, and other errors at once', async () => {
    let edits = 0;
    const edit = (input: object) => {
      edits += 1;
      return input;
    };
    const conflict = new KeyfrontError('CONFLICT', 'The key has changed.');
    const stale = {
      send: async (...args: Parameters<ReturnType<typeof client>['send']>) => {
        if ((args[0] as unknown) === PatchOrgKeyDocument) throw conflict;
        return client().send(...args);
      },
    } as ReturnType<typeof client>;
    await expect(editOrgKey(stale, 'k1', edit, { maxAttempts: 3 })).rejects.toBe(conflict);
    expect(edits).toBe(3);
    await expect(editOrgKey(client(), 'absent', edit)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(editOrgKey(client(), 'k1', (input) => ({ ...input, rate: -5 }))).rejects.toMatchObject({
      code: 'INVALID',
    });
    expect(edits).toBe(3);
  });
});

it('throws UNREACHABLE with its cause if there is no response, and the error of an aborted request as it is', async () => {
  const cause = new TypeError('fetch failed');
  const offline = createClient({ url: 'http://keyfront.test', fetch: () => Promise.reject(cause) });
  const sent = offline.send(OrgKeyDocument, { by: { keyID: 'k1' }, first: 1 });
  await expect(sent).rejects.toMatchObject({
    code: 'UNREACHABLE',
    message: expect.stringContaining('keyfront.test'),
    cause,
  });
  const signal = AbortSignal.abort();
  const aborted = offline.send(OrgKeyDocument, { by: { keyID: 'k1' }, first: 1 }, { signal });
  await expect(aborted).rejects.toBe(cause);
});
