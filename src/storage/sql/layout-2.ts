/*
 * Migration 2: lists of keys in the order of their expiry, from indexes that also find the keys that expire before a time.
 * It is released, so that this text never changes.
 */
export const layout2 = {
  sqlite: `
DROP INDEX keys_by_expiry;
CREATE INDEX IF NOT EXISTS keys_by_end ON keys (expires);
CREATE INDEX IF NOT EXISTS keys_by_org_end ON keys (org, expires);
`,
  postgres: `
DROP INDEX keys_by_expiry;
CREATE INDEX keys_by_end ON keys (expires, id);
CREATE INDEX keys_by_org_end ON keys (org, expires, id);
`,
};
