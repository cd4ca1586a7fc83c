/*
 * Migration 4: policies. It is released, so that this text never changes.
 */
const table = (text: string, bytes: string, int: string, rowID: string, rows: string) => `
CREATE TABLE policies (
  -- The number after that of the row before.
  id ${rowID},
  policy_id ${text} NOT NULL,
  version ${int} NOT NULL,
  at ${int} NOT NULL,
  credential_id ${text} NOT NULL,
  credential_label ${text} NOT NULL,
  actor_name ${text},
  -- NULL if the policy was removed.
  definition ${text},
  mac ${bytes} NOT NULL,
  UNIQUE (policy_id, version)
)${rows};
`;

export const layout4 = {
  sqlite: table('TEXT', 'BLOB', 'INTEGER', 'INTEGER PRIMARY KEY', ' STRICT'),
  postgres: table('text COLLATE "C"', 'bytea', 'bigint', 'bigint PRIMARY KEY', ''),
};
