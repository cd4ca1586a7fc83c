/**
 * Numbers are given out before the transactions that take them are committed, in whatever order. What is below the oldest
 * transaction still under way is complete, so that changes are read in the order of their transactions.
 */
export const orderOfChanges = `
-- The transaction that wrote the entry, or of the same key's entry before it where that is later, plus feed_offset. 0 for
-- what was there before, which has the order of its numbers.
ALTER TABLE audit ADD COLUMN tx bigint NOT NULL DEFAULT 0;
ALTER TABLE audit ALTER COLUMN tx DROP DEFAULT;
CREATE INDEX audit_by_tx ON audit (tx, id);
INSERT INTO settings (name, value) VALUES ('feed_offset', '0');
`;
