// The table is made anew, because SQLite adds no rule to one that exists.
export const credentialLife = `
CREATE TABLE credentials_next (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  label TEXT NOT NULL,
  -- SHA-256, and of something: whoever sends nothing must never be found here.
  secret_hash BLOB NOT NULL UNIQUE CHECK (
    length(secret_hash) = 32
    AND secret_hash <> x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  ),
  last_four TEXT,
  org_id TEXT,
  created INTEGER NOT NULL, -- Unix milliseconds, as the three below
  expires INTEGER,
  revoked INTEGER,
  last_used INTEGER,
  successor_id TEXT
) STRICT;
INSERT INTO credentials_next (id, kind, label, secret_hash, org_id, created, expires, revoked)
  SELECT id, kind, label, secret_hash, org_id, created, expires, revoked FROM credentials;
DROP TABLE credentials;
ALTER TABLE credentials_next RENAME TO credentials;
`;
