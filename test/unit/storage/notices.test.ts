import { expect, it } from 'vitest';
import { createNotices } from '../../../src/storage/sql/keys/notices.js';
import { sqliteDialect } from '../../../src/storage/sql/dialect.js';
import type { SqlSession } from '../../../src/storage/sql/session.js';
import { hashOf } from '../../support/factories.js';
import { signer } from '../../support/signer.js';
import { countInTurns } from '../../support/turns.js';

it('verifies the notices of keys that are read together in time slices', async () => {
  const turns = countInTurns();
  const verified = new Set<number>();
  const rows = [1, 2, 3].map((number) => ({
    key_hash: hashOf(number),
    event_id: 'evt_1',
    get mac() {
      if (!verified.has(number)) turns.work();
      verified.add(number);
      return Buffer.of(0);
    },
  }));
  const session = { dialect: sqliteDialect, all: () => Promise.resolve(rows) } as unknown as SqlSession;
  const { noticesOf } = createNotices(session, signer, turns.slices, () => undefined);
  const wanted = [1, 2, 3].map((number) => ({ keyHash: hashOf(number), identity: '' }));
  expect(await noticesOf(wanted, 20)).toEqual(wanted.map(() => expect.any(Error) as unknown));
  expect(turns.most()).toBe(1);
});
