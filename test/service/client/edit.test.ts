import { beforeEach, describe, expect, it } from 'vitest';
import {
  createClient,
  editOrgKey,
  KeyfrontError,
  OrgKeyDocument,
  toInput,
  UpdateOrgKeyDocument,
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
        const other = (document as unknown) === UpdateOrgKeyDocument ? others.shift() : undefined;
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
        if ((args[0] as unknown) === UpdateOrgKeyDocument) throw conflict;
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
