export const keysAndCredentials = `
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
  key_hash TEXT PRIMARY KEY,
  sealed_key_id BLOB NOT NULL,
  org_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  date_created TEXT NOT NULL,
  last_updated INTEGER NOT NULL,
  definition TEXT NOT NULL,
  password_hash TEXT,
  jwt_secret BLOB,
  hmac_string BLOB,
  -- The counter of the live quota stands in the key's own row: a page of its own costs as much as the update itself.
  quota_used INTEGER NOT NULL,
  quota_renews INTEGER
) STRICT;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL, -- Unix milliseconds
  key_hash TEXT NOT NULL,
  org_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  credential_id TEXT NOT NULL,
  credential_label TEXT NOT NULL,
  request_id TEXT NOT NULL,
  version_before INTEGER NOT NULL,
  version_after INTEGER NOT NULL,
  quota_used_before_reset INTEGER
) STRICT;
CREATE INDEX audit_by_key ON audit (key_hash, id);

CREATE TABLE credentials (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  label TEXT NOT NULL,
  secret_hash BLOB NOT NULL UNIQUE,
  org_id TEXT,
  created INTEGER NOT NULL, -- Unix milliseconds, as the two below
  expires INTEGER,
  revoked INTEGER
) STRICT;
`;
