/*
 * Migration 6: notices, which are events of keys in time and no changes. They are in the table of the history, so that the
 * change feed has one order, with version 0, and no version links to them. The unique identifier of a notice follows from
 * what it reports, so that it is recorded once. It is released, so that this text never changes.
 */
const notices = (text: string) => `
-- Both are NULL for a change.
ALTER TABLE history ADD COLUMN event_id ${text};
ALTER TABLE history ADD COLUMN notice ${text};
CREATE UNIQUE INDEX notices_by_event ON history (event_id) WHERE event_id IS NOT NULL;
CREATE INDEX notices_by_key ON history (key, id) WHERE event_id IS NOT NULL;
CREATE INDEX notices_by_time ON history (at) WHERE event_id IS NOT NULL;
`;

export const layout6 = { sqlite: notices('TEXT'), postgres: notices('text') };
