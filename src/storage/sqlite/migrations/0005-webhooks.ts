/** Addresses that are told of changes, how far each has come, and what could not be delivered. */
export const webhooks = `
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  label TEXT NOT NULL,
  org_id TEXT,
  sealed_url BLOB NOT NULL,
  sealed_secret BLOB NOT NULL,
  previous_secret BLOB,
  previous_until INTEGER, -- Unix milliseconds, as all times here
  created INTEGER NOT NULL,
  paused INTEGER,
  paused_why TEXT,
  mac BLOB NOT NULL
) STRICT;
CREATE TRIGGER changed_webhooks_are_signed BEFORE UPDATE ON webhooks WHEN NEW.mac IS OLD.mac
BEGIN SELECT RAISE(ABORT, 'rows are signed, and this one would not be'); END;

-- One process at a time delivers for a webhook, for as long as it holds it.
CREATE TABLE webhook_progress (
  webhook_id TEXT PRIMARY KEY,
  cursor TEXT NOT NULL,
  holder TEXT,
  held_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A row a key, however many of its events wait: they are read from its history.
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
`;
