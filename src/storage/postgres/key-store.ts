import type { KeyStore } from '../../keys/ports.js';
import type { QuotaManager, QuotaOutbox } from '../../keys/quota/quota-manager.js';
import type { Telemetry } from '../../telemetry/ports.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import { postgresDialect } from '../sql/dialect.js';
import { createKeyRowStatements } from '../sql/keys/key-rows.js';
import { createSqlKeyStore } from '../sql/keys/key-store.js';
import { createTimeSlices, type TimeSlices } from '../time-slices.js';
import { createKeyGroups } from './key-groups.js';
import type { PgPool } from './pool.js';
import { createPgSession } from './session.js';
import { createPgWideReader } from './wide-reader.js';

/**
 * The key store in a PostgreSQL database, which any number of processes may share: nothing is cached between two calls.
 * Reads that may look at many rows have connections of their own, `wide`.
 */
export function createKeyStore(
  connections: PgPool,
  signer: RowSigner,
  telemetry: Telemetry = {},
  wide: PgPool = connections,
  slices: TimeSlices = createTimeSlices(),
): KeyStore & QuotaManager & QuotaOutbox {
  const rows = createKeyRowStatements(postgresDialect, signer);
  return createSqlKeyStore(
    {
      session: createPgSession(connections),
      rows,
      groups: createKeyGroups(connections, rows, slices),
      reader: createPgWideReader(connections),
      wideReader: createPgWideReader(wide),
      slices,
      telemetry,
    },
    signer,
  );
}
