/** What is still to be done to counters that stand elsewhere, written with the keys. */
export const quotaChanges = `
CREATE TABLE quota_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key_hash TEXT NOT NULL,
  date_created TEXT NOT NULL,
  last_updated INTEGER NOT NULL,
  at INTEGER NOT NULL, -- Unix milliseconds
  is_reset INTEGER NOT NULL,
  period_before INTEGER NOT NULL,
  period_after INTEGER NOT NULL,
  mac BLOB NOT NULL
) STRICT;
CREATE INDEX quota_changes_by_key ON quota_changes (key_hash, id);
CREATE INDEX quota_changes_by_time ON quota_changes (at, id);
`;
