/*
 * Migration 9: proposals, and the proposal that made a change in its history entry. The rows of both tables are signed, and
 * added once. `sealed`, `state`, `due` and `ended` are not signed: the state follows from the steps. It is released, so that
 * this text never changes.
 */
const proposals = (text: string, int: string, bytes: string, rows: string) => `
-- JSON; NULL for a direct change.
ALTER TABLE history ADD COLUMN proposal ${text};

CREATE TABLE proposals (
  id ${text} PRIMARY KEY,
  org_id ${text} NOT NULL,
  key_hash ${text} NOT NULL,
  at ${int} NOT NULL,
  content ${text} NOT NULL,
  mac ${bytes} NOT NULL,
  -- NULL after the end.
  sealed ${bytes},
  state ${text} NOT NULL,
  -- When it is to be applied or expires; NULL after the end.
  due ${int},
  -- NULL before the end.
  ended ${int}
)${rows};
CREATE INDEX proposals_by_time ON proposals (at, id);
CREATE INDEX proposals_by_org ON proposals (org_id, at, id);
CREATE INDEX proposals_by_state ON proposals (state, at, id);
CREATE INDEX proposals_by_org_state ON proposals (org_id, state, at, id);
CREATE INDEX proposals_by_key ON proposals (key_hash, at, id);
CREATE INDEX proposals_by_due ON proposals (due) WHERE due IS NOT NULL;
CREATE INDEX proposals_by_end ON proposals (ended) WHERE ended IS NOT NULL;

CREATE TABLE proposal_steps (
  -- That of the proposal, with the suffix approval or end: there is one of each.
  id ${text} PRIMARY KEY,
  proposal ${text} NOT NULL,
  at ${int} NOT NULL,
  content ${text} NOT NULL,
  mac ${bytes} NOT NULL
)${rows};
CREATE INDEX proposal_steps_by_proposal ON proposal_steps (proposal);
`;

export const layout9 = {
  sqlite: proposals('TEXT', 'INTEGER', 'BLOB', ' STRICT'),
  postgres: proposals('text', 'bigint', 'bytea', ''),
};
