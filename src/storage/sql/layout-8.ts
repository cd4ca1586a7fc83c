/*
 * Migration 8: the types of events that a webhook receives. It is released, so that this text never changes.
 */
const eventTypes = (text: string) => `
-- Separated by commas; NULL for all types.
ALTER TABLE webhooks ADD COLUMN event_types ${text};
`;

export const layout8 = { sqlite: eventTypes('TEXT'), postgres: eventTypes('text') };
