import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRowSigner } from '../../src/crypto/row-signer.js';
import { loadKeyRing } from '../../src/crypto/key-ring.js';
import { keyTable, type KeyRow } from '../../src/storage/records/key-records.js';
import { createSignedTable, type SignedRow } from '../../src/storage/records/signed.js';
import { postgresDialect, sqliteDialect } from '../../src/storage/sql/dialect.js';
import { rowTexts } from '../../src/storage/sql/rows.js';
import { schemaVersion } from '../../src/storage/sql/schema.js';
import { startApp, type TestApp } from '../support/app.js';
import { describeEngines, type EnginePlace } from '../support/engines.js';
import { rowIDOf } from '../support/factories.js';

/** A key of the next version, which adds a column. */
type NextKeyRow = KeyRow & { note: string | null };

describeEngines('a service while a newer version adds a column beside it', ({ make }) => {
  let t: TestApp;
  let place: EnginePlace;
  beforeAll(async () => {
    place = await make();
    t = await startApp(place.env);
    await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 9 }, { key_id: 'k2', org_id: 'acme' });
    await place.run(
      'ALTER TABLE keys ADD COLUMN note TEXT',
      place.database
        ? `UPDATE settings SET value = '${schemaVersion + 1}' WHERE name = 'schema_version'`
        : `PRAGMA user_version = ${schemaVersion + 1}`,
    );
  });
  afterAll(async () => {
    await t.close();
    await place.remove();
  });

  const nextTable = () => {
    const ring = loadKeyRing(join(place.folder, 'key-ring.json'));
    const { layouts } = keyTable;
    return createSignedTable<NextKeyRow>(
      createRowSigner(() => ring),
      { ...keyTable, layouts: [...layouts, [...(layouts.at(-1) ?? []), 'note']] },
    );
  };
  const hash = (keyID: string) => t.app.services.ports.hashKeyID(keyID);
  const rowOf = async (keyID: string) => {
    const { keyColumns } = rowTexts(place.database ? postgresDialect : sqliteDialect);
    const [row] = await place.rows(`SELECT ${keyColumns}, k.note FROM keys k WHERE k.id = ${rowIDOf(hash(keyID))}`);
    // PostgreSQL returns 64-bit integers as text to this connection.
    return Object.fromEntries(
      Object.entries(row ?? {}).map(([name, value]) => [
        name,
        isInteger(name) && value !== null ? BigInt(value as string) : value,
      ]),
    ) as unknown as SignedRow<NextKeyRow>;
  };
  const isInteger = (name: string) => keyTable.columns[name]?.startsWith('integer') ?? false;
  const write = async ({ key_hash, quota_used, note, mac }: SignedRow<NextKeyRow>) => {
    const bytes = place.bytes(Buffer.from(mac).toString('hex'));
    const value = note === null ? 'NULL' : `'${note}'`;
    await place.run(
      `UPDATE keys SET quota_used = ${quota_used}, note = ${value}, mac = ${bytes} WHERE id = ${rowIDOf(key_hash)}`,
    );
  };
  const read = (keyID: string) => t.graphql(`{ orgKey(by: { keyID: "${keyID}" }) { definition { alias } } }`);

  it('stays ready, reads, lists and writes', async () => {
    expect((await t.send('/ready')).status).toBe(200);
    expect((await t.update('k1', { alias: 'new' })).status).toBe(200);
    expect((await read('k1')).body).toMatchObject({ data: { orgKey: { definition: { alias: 'new' } } } });
    const { body } = await t.graphql(
      '{ orgKeys(filter: { orgID: "acme" }) { totalCount edges { node { version } } } }',
    );
    expect(body).toMatchObject({ data: { orgKeys: { totalCount: 2 } } });
  });

  it('writes rows that the newer version verifies', async () => {
    const row = await rowOf('k1');
    expect(row.note).toBeNull();
    expect(nextTable().isAuthentic(row)).toBe(true);
  });

  it('reads and changes a row that the newer version wrote without a value in the new column', async () => {
    await write(nextTable().signed({ ...(await rowOf('k1')), quota_used: 4n }));
    expect((await read('k1')).body).toMatchObject({ data: { orgKey: { definition: { alias: 'new' } } } });
    expect((await t.update('k1', { alias: 'newer' })).status).toBe(200);
    expect(nextTable().isAuthentic(await rowOf('k1'))).toBe(true);
  });

  it('rejects a row with a value in the new column, and names the newer version in the log', async () => {
    await write(nextTable().signed({ ...(await rowOf('k2')), note: 'text' }));
    expect((await read('k2')).body).toMatchObject({ errors: [{ message: 'Internal error.' }] });
    expect(t.logs()).toContain(
      `The key ${hash('k2')} has row layout ${keyTable.layouts.length + 1}, and this Keyfront supports up to ${keyTable.layouts.length}: a newer version`,
    );
    expect((await t.update('k1', { alias: 'last' })).status).toBe(200);
  });
});
