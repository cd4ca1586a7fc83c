/*
 * Migration 7: when keys were last used, and their requests by day. Nothing decides access by them, so they are not signed. It
 * is released, so that this text never changes.
 */
interface Words {
  readonly int: string;
  /** In PostgreSQL, indexes name the row behind the column. */
  readonly thenID: string;
  readonly rows: string;
}

const uses = ({ int, thenID, rows }: Words) => `
-- Milliseconds; 0 for a key that was never used.
ALTER TABLE keys ADD COLUMN last_used ${int} NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS keys_by_use ON keys (last_used${thenID});

-- Requests of a key on a day, counted from 1970. The day first: what is written now is on few pages, and the days that end
-- are together.
CREATE TABLE key_days (
  day ${int} NOT NULL,
  key ${int} NOT NULL,
  allowed ${int} NOT NULL,
  denied ${int} NOT NULL,
  PRIMARY KEY (day, key)
)${rows};

-- Of all keys of an organization, also of those that were purged since.
CREATE TABLE org_days (
  org ${int} NOT NULL,
  day ${int} NOT NULL,
  allowed ${int} NOT NULL,
  denied ${int} NOT NULL,
  PRIMARY KEY (org, day)
)${rows};

-- When the identifier of a rotated key was last used, in milliseconds; NULL if it was not.
ALTER TABLE identifiers ADD COLUMN last_used ${int};
-- After so many milliseconds without a request, the identifier retires before its time; NULL for one that does not.
ALTER TABLE identifiers ADD COLUMN silence ${int};
CREATE INDEX identifiers_by_key ON identifiers (key);
CREATE INDEX silent_identifiers ON identifiers (key) WHERE silence IS NOT NULL;
`;

export const layout7 = {
  sqlite: uses({ int: 'INTEGER', thenID: '', rows: ' STRICT, WITHOUT ROWID' }),
  postgres: uses({ int: 'bigint', thenID: ', id', rows: ' WITH (fillfactor = 85)' }),
};
