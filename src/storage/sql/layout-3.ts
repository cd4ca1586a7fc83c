/*
 * Migration 3: lists of keys in the order of their creation, in milliseconds. Dates that have no or more than three digits
 * behind the second are texts, such as 2024-07-03T09:12:30.123456Z; further digits do not count. It is released, so that
 * this text never changes.
 */

/** The milliseconds of the text `date_created`, from its whole seconds. */
const withFraction = (seconds: string) =>
  `${seconds} * 1000 + CAST(substr(rtrim(substr(date_created, 21), 'Z') || '000', 1, 3) AS bigint)`;

const part = (from: number, length: number) => `CAST(substr(date_created, ${from}, ${length}) AS integer)`;

/**
 * PostgreSQL has no immutable conversion of a text to a time, and no year 0. The calendar repeats after 400 years, which
 * have 12,622,780,800 seconds.
 */
const postgresSeconds = `(CAST(extract(epoch FROM make_timestamp(${part(1, 4)} + 400, ${part(6, 2)}, ${part(9, 2)},
  ${part(12, 2)}, ${part(15, 2)}, ${part(18, 2)})) AS bigint) - 12622780800)`;

/** The expression of the index on PostgreSQL. A statement that repeats it uses the index. */
export const postgresCreation = `coalesce(created, ${withFraction(postgresSeconds)})`;

export const layout3 = {
  // SQLite enters an index at a cursor only by a column. A virtual one takes no space in the row.
  sqlite: `
ALTER TABLE keys ADD COLUMN creation INTEGER
  AS (coalesce(created, ${withFraction('unixepoch(substr(date_created, 1, 19))')})) VIRTUAL;
CREATE INDEX IF NOT EXISTS keys_by_creation ON keys (creation);
`,
  postgres: `
CREATE INDEX keys_by_creation ON keys ((${postgresCreation}), id);
`,
};
