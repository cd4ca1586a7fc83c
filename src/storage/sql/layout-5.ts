/*
 * Migration 5: the identifiers of rotated keys. The signed row of a key says which identifiers it has; `identifiers` finds it
 * by those whose hashes are not its own, and by the time at which one retires. It is released, so that this text never changes.
 */
const identifiers = (text: string, bytes: string, int: string, rows: string) => `
-- JSON. NULL for a key with its first identifier only.
ALTER TABLE keys ADD COLUMN identifiers ${text};

CREATE TABLE identifiers (
  key_hash ${bytes} PRIMARY KEY,
  key ${int} NOT NULL,
  -- NULL for the identifier that the key keeps.
  retires ${int}
)${rows};
CREATE INDEX identifiers_by_retirement ON identifiers (retires, key_hash) WHERE retires IS NOT NULL;
`;

export const layout5 = {
  sqlite: identifiers('TEXT', 'BLOB', 'INTEGER', ' STRICT, WITHOUT ROWID'),
  postgres: identifiers('text', 'bytea', 'bigint', ''),
};
