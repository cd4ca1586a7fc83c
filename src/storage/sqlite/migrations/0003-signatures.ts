/**
 * Every row carries a signature of what it says. Those that are there already are signed when the database is opened
 * with its key ring. A process of an older version that still runs would leave rows without one, or with one of what the
 * row said before: its writes are refused instead, and so are those of a hand with a SQL shell.
 */
export const signatures = `
ALTER TABLE keys ADD COLUMN mac BLOB;
ALTER TABLE audit ADD COLUMN mac BLOB;
ALTER TABLE credentials ADD COLUMN mac BLOB;

DROP TRIGGER IF EXISTS audit_is_append_only;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OF id, at, key_hash, org_id, operation, credential_id, credential_label,
  reason, request_id, version_before, version_after, quota_used_before_reset, changes, definition, link ON audit
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;

CREATE TRIGGER new_keys_are_signed BEFORE INSERT ON keys WHEN NEW.mac IS NULL
BEGIN SELECT RAISE(ABORT, 'rows are signed: restart what runs an older Keyfront'); END;
CREATE TRIGGER changed_keys_are_signed BEFORE UPDATE ON keys WHEN NEW.mac IS OLD.mac
BEGIN SELECT RAISE(ABORT, 'rows are signed: restart what runs an older Keyfront'); END;
CREATE TRIGGER new_audit_is_signed BEFORE INSERT ON audit WHEN NEW.mac IS NULL
BEGIN SELECT RAISE(ABORT, 'rows are signed: restart what runs an older Keyfront'); END;
CREATE TRIGGER new_credentials_are_signed BEFORE INSERT ON credentials WHEN NEW.mac IS NULL
BEGIN SELECT RAISE(ABORT, 'rows are signed: restart what runs an older Keyfront'); END;
CREATE TRIGGER changed_credentials_are_signed BEFORE UPDATE ON credentials WHEN NEW.mac IS OLD.mac
BEGIN SELECT RAISE(ABORT, 'rows are signed: restart what runs an older Keyfront'); END;
`;
