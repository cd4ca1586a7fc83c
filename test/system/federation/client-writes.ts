import { expect, it } from 'vitest';
import {
  createClient,
  CreateOrgKeyDocument,
  DeleteOrgKeyDocument,
  editOrgKey,
  KeyfrontError,
  OrgKeyDocument,
  PreviewKeyDocument,
  PreviewOrgKeyUpdateDocument,
  RestoreOrgKeyDocument,
  RevertOrgKeyDocument,
} from '../../../src/client/client.js';
import type { TestApp } from '../../support/app.js';

interface Behind {
  readonly t: TestApp;
  readonly fetch: typeof fetch;
}

/** The client, whose documents a gateway receives: it creates, changes, reverts, deletes, restores and previews a key. */
export function itWrites(behind: () => Behind): void {
  const connect = () => {
    const { t, fetch } = behind();
    return createClient({ url: 'http://gateway.test', management: t.management, service: t.service, fetch });
  };

  it('previews, creates, changes, reverts, deletes and restores a key with the documents of keyfront-client', async () => {
    const client = connect();
    const keyID = 'written-by-the-client';
    const { data: preview } = await client.send(PreviewKeyDocument, { input: { keyID, alias: 'One', orgID: 'acme' } });
    const keyHash = preview.previewKey?.keyHash;

    const { data: creation } = await client.send(CreateOrgKeyDocument, {
      keyID,
      input: { orgID: 'acme', alias: 'One' },
    });
    expect(creation.createOrgKey?.orgKey).toMatchObject({ keyID, keyHash, version: 1 });

    const edited = await editOrgKey(client, keyID, (input) => ({
      ...input,
      alias: 'Two',
      quotaMax: '9223372036854775807',
    }));
    expect(edited.orgKey).toMatchObject({ version: 2, definition: { alias: 'Two', quotaMax: '9223372036854775807' } });
    expect(edited.changes.map(({ path }) => path)).toContain('alias');

    const update = { keyID, input: { alias: 'Three' }, expectedVersion: 2 };
    const { data: predicted } = await client.send(PreviewOrgKeyUpdateDocument, update);
    expect(predicted.previewOrgKeyUpdate).toMatchObject({ version: 3, definition: { alias: 'Three' } });

    const { data: reversion } = await client.send(RevertOrgKeyDocument, { keyID, toVersion: 1, expectedVersion: 2 });
    expect(reversion.revertOrgKey?.orgKey.version).toBe(3);

    const { data: deletion } = await client.send(DeleteOrgKeyDocument, { keyID, expectedVersion: 3 });
    expect(deletion.deleteOrgKey?.orgKey.state).toBe('DELETED');

    const { data: restoration } = await client.send(RestoreOrgKeyDocument, { keyID });
    expect(restoration.restoreOrgKey?.orgKey).toMatchObject({ keyHash, version: 5 });

    const { data: read } = await client.send(OrgKeyDocument, { by: { keyID }, last: 10 });
    expect(read.orgKey?.definition?.alias).toBe('One');
    expect(read.orgKey?.history?.edges?.map((edge) => edge?.node?.operation)).toEqual([
      'CREATE',
      'UPDATE',
      'REVERT',
      'DELETE',
      'RESTORE',
    ]);
  });

  it('reports the errors of changes to keyfront-client', async () => {
    const client = connect();
    const stale = client.send(DeleteOrgKeyDocument, { keyID: 'other', expectedVersion: 99 });
    await expect(stale).rejects.toMatchObject({ code: 'CONFLICT', path: ['deleteOrgKey'] });
    const invalid = client.send(PreviewKeyDocument, { input: { rate: -5 } }).catch((error: unknown) => error);
    expect(await invalid).toBeInstanceOf(KeyfrontError);
    expect(await invalid).toMatchObject({ code: 'INVALID', issues: [{ path: 'rate', code: 'OUT_OF_RANGE' }] });
  });

  it.each(['9223372036854775807', '-9223372036854775808', '9007199254740993'])(
    'R-07 reports IMPRECISE for the literal %s, which the gateway may round',
    async (number) => {
      const client = connect();
      const imprecise = { code: 'INVALID', issues: [{ path: 'expires', code: 'IMPRECISE' }] };
      const literal = `{ previewKey(input: { expires: ${number} }) { keyHash } }`;
      await expect(client.send(literal, {})).rejects.toMatchObject(imprecise);
      const variable = 'query ($n: Int64) { previewKey(input: { expires: $n }) { keyHash } }';
      await expect(client.send(variable, { n: Number(number) })).rejects.toMatchObject(imprecise);
    },
  );
}
