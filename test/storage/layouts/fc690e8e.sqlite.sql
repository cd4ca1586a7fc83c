-- The tables that commit fc690e8e made in SQLite: sqlite_schema after `keyfront keys import` of one key, without comments and triggers.
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
  deleted INTEGER,
  definition TEXT NOT NULL,
  alias TEXT NOT NULL,
  expires INTEGER NOT NULL,
  is_inactive INTEGER NOT NULL,
  password_hash TEXT,
  jwt_secret BLOB,
  hmac_string BLOB,
  quota_used INTEGER NOT NULL,
  quota_renews INTEGER,
  history_link BLOB NOT NULL
, mac BLOB) STRICT;
CREATE INDEX keys_by_org ON keys (org_id, key_hash);
CREATE INDEX keys_by_alias ON keys (alias, key_hash);
CREATE INDEX keys_by_org_alias ON keys (org_id, alias, key_hash);
CREATE INDEX keys_by_update ON keys (last_updated, key_hash);
CREATE INDEX keys_by_org_update ON keys (org_id, last_updated, key_hash);
CREATE INDEX keys_by_expiry ON keys (expires, key_hash) WHERE expires >= 1;
CREATE INDEX keys_by_deletion ON keys (deleted, key_hash) WHERE deleted IS NOT NULL;
CREATE INDEX deleted_keys ON keys (key_hash) WHERE deleted IS NOT NULL;
CREATE INDEX deleted_keys_by_org ON keys (org_id, key_hash) WHERE deleted IS NOT NULL;
CREATE INDEX inactive_keys ON keys (key_hash) WHERE is_inactive = 1;
CREATE INDEX inactive_keys_by_org ON keys (org_id, key_hash) WHERE is_inactive = 1;
CREATE TABLE key_terms (
  term TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  org_id TEXT NOT NULL,
  PRIMARY KEY (term, key_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX key_terms_by_org ON key_terms (org_id, term, key_hash);
CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
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
, mac BLOB) STRICT;
CREATE UNIQUE INDEX audit_by_key ON audit (key_hash, version_after);
CREATE TABLE "credentials" (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  label TEXT NOT NULL,
  secret_hash BLOB NOT NULL UNIQUE CHECK (
    length(secret_hash) = 32
    AND secret_hash <> x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  ),
  last_four TEXT,
  org_id TEXT,
  created INTEGER NOT NULL,
  expires INTEGER,
  revoked INTEGER,
  last_used INTEGER,
  successor_id TEXT
, mac BLOB) STRICT;
CREATE TABLE quota_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key_hash TEXT NOT NULL,
  date_created TEXT NOT NULL,
  last_updated INTEGER NOT NULL,
  at INTEGER NOT NULL,
  is_reset INTEGER NOT NULL,
  period_before INTEGER NOT NULL,
  period_after INTEGER NOT NULL,
  mac BLOB NOT NULL
) STRICT;
CREATE INDEX quota_changes_by_key ON quota_changes (key_hash, id);
CREATE INDEX quota_changes_by_time ON quota_changes (at, id);
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  label TEXT NOT NULL,
  org_id TEXT,
  sealed_url BLOB NOT NULL,
  sealed_secret BLOB NOT NULL,
  previous_secret BLOB,
  previous_until INTEGER,
  created INTEGER NOT NULL,
  paused INTEGER,
  paused_why TEXT,
  mac BLOB NOT NULL
) STRICT;
CREATE TABLE webhook_progress (
  webhook_id TEXT PRIMARY KEY,
  cursor TEXT NOT NULL,
  holder TEXT,
  held_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE webhook_failing (
  webhook_id TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  next_version INTEGER NOT NULL,
  last_version INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  due INTEGER NOT NULL,
  why TEXT NOT NULL,
  PRIMARY KEY (webhook_id, key_hash)
) STRICT, WITHOUT ROWID;
CREATE TABLE webhook_dead (
  webhook_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  version INTEGER NOT NULL,
  died INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  why TEXT NOT NULL,
  due INTEGER,
  PRIMARY KEY (webhook_id, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX replayed_webhooks ON webhook_dead (webhook_id, due) WHERE due IS NOT NULL;
PRAGMA user_version = 5;
