/** The same tables as in SQLite, with the same columns. */
export const webhooks = `
CREATE TABLE webhooks (
  id text COLLATE "C" PRIMARY KEY,
  label text NOT NULL,
  org_id text,
  sealed_url bytea NOT NULL,
  sealed_secret bytea NOT NULL,
  previous_secret bytea,
  previous_until bigint, -- Unix milliseconds, as all times here
  created bigint NOT NULL,
  paused bigint,
  paused_why text,
  mac bytea NOT NULL
);
CREATE TRIGGER changed_webhooks_are_signed BEFORE UPDATE ON webhooks FOR EACH ROW WHEN (NEW.mac = OLD.mac)
  EXECUTE FUNCTION keyfront_refuse('rows are signed, and this one would not be');

-- One process at a time delivers for a webhook, for as long as it holds it.
CREATE TABLE webhook_progress (
  webhook_id text COLLATE "C" PRIMARY KEY,
  cursor text NOT NULL,
  holder text,
  held_until bigint NOT NULL
) WITH (fillfactor = 50);

-- A row a key, however many of its events wait: they are read from its history.
CREATE TABLE webhook_failing (
  webhook_id text COLLATE "C" NOT NULL,
  key_hash text COLLATE "C" NOT NULL,
  next_version bigint NOT NULL,
  last_version bigint NOT NULL,
  attempts bigint NOT NULL,
  due bigint NOT NULL,
  why text NOT NULL,
  PRIMARY KEY (webhook_id, key_hash)
);

CREATE TABLE webhook_dead (
  webhook_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  key_hash text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  died bigint NOT NULL,
  attempts bigint NOT NULL,
  why text NOT NULL,
  due bigint,
  PRIMARY KEY (webhook_id, event_id)
);
CREATE INDEX replayed_webhooks ON webhook_dead (webhook_id, due) WHERE due IS NOT NULL;
`;
