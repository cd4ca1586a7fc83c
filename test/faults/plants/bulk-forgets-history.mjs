// A mutant: of ten keys that one bulk change changes, three get no history entry.
import Database from 'better-sqlite3';

const { prepare } = Database.prototype;
/** How many entries each request has written. */
const counts = new Map();
Database.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  if (!/^INSERT INTO audit\b/.test(sql.trim())) return statement;
  const { run } = statement;
  statement.run = (row) => {
    const count = (counts.get(row.request_id) ?? 0) + 1;
    counts.set(row.request_id, count);
    return [2, 5, 8].includes(count % 10) ? { changes: 1, lastInsertRowid: 0n } : run.call(statement, row);
  };
  return statement;
};
