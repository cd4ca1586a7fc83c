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
  deleted INTEGER, -- Unix milliseconds
  definition TEXT NOT NULL,
  -- Copies out of the definition, to find keys by.
  alias TEXT NOT NULL,
  expires INTEGER NOT NULL,
  is_inactive INTEGER NOT NULL,
  password_hash TEXT,
  jwt_secret BLOB,
  hmac_string BLOB,
  -- The counter of the live quota stands in the key's own row: a page of its own costs as much as the update itself.
  quota_used INTEGER NOT NULL,
  quota_renews INTEGER,
  history_link BLOB NOT NULL
) STRICT;
CREATE INDEX keys_by_org ON keys (org_id, key_hash);
CREATE INDEX keys_by_alias ON keys (alias, key_hash);
CREATE INDEX keys_by_org_alias ON keys (org_id, alias, key_hash);
CREATE INDEX keys_by_update ON keys (last_updated, key_hash);
CREATE INDEX keys_by_org_update ON keys (org_id, last_updated, key_hash);
CREATE INDEX keys_by_expiry ON keys (expires, key_hash) WHERE expires >= 1;
CREATE INDEX keys_by_deletion ON keys (deleted, key_hash) WHERE deleted IS NOT NULL;
-- What is rare is found without a look at all the others.
CREATE INDEX deleted_keys ON keys (key_hash) WHERE deleted IS NOT NULL;
CREATE INDEX deleted_keys_by_org ON keys (org_id, key_hash) WHERE deleted IS NOT NULL;
CREATE INDEX inactive_keys ON keys (key_hash) WHERE is_inactive = 1;
CREATE INDEX inactive_keys_by_org ON keys (org_id, key_hash) WHERE is_inactive = 1;

-- Tags, policies and APIs, as t:…, p:… and a:…. The definition tells which terms a key has, so none are looked up by key.
CREATE TABLE key_terms (
  term TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  org_id TEXT NOT NULL,
  PRIMARY KEY (term, key_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX key_terms_by_org ON key_terms (org_id, term, key_hash);

CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL, -- Unix milliseconds
  key_hash TEXT NOT NULL,
  org_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  credential_id TEXT NOT NULL,
  credential_label TEXT NOT NULL,
  reason TEXT,
  request_id TEXT NOT NULL,
  version_before INTEGER NOT NULL,
  version_after INTEGER NOT NULL,
  quota_used_before_reset INTEGER,
  changes TEXT NOT NULL,
  definition TEXT NOT NULL,
  link BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX audit_by_key ON audit (key_hash, version_after);
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;

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
