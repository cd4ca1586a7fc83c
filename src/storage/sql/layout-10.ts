/*
 * Migration 10: what gateways have acknowledged. Nothing decides access by it, so it is not signed. It is released, so that
 * this text never changes.
 */
const gateways = (text: string, int: string, rows: string) => `
CREATE TABLE gateways (
  -- The organization whose keys the gateway has; empty for all.
  org ${text} NOT NULL,
  name ${text} NOT NULL,
  -- The position in the history, and its cursor; NULL while the gateway reads all keys anew.
  at_tx ${int},
  at_id ${int},
  cursor ${text},
  -- The digest of its copy at the cursor; NULL if it sends none.
  digest ${text},
  -- Milliseconds: when it began to read all keys, and when it acknowledged last.
  since ${int} NOT NULL,
  seen ${int} NOT NULL,
  PRIMARY KEY (org, name)
)${rows};
CREATE INDEX gateways_by_name ON gateways (name, org);
CREATE INDEX gateways_by_position ON gateways (at_tx, at_id);
`;

export const layout10 = {
  sqlite: gateways('TEXT', 'INTEGER', ' STRICT, WITHOUT ROWID'),
  postgres: gateways('text COLLATE "C"', 'bigint', ' WITH (fillfactor = 85)'),
};
