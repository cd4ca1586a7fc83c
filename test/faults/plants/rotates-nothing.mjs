// A bug for the harnesses to catch: whoever goes through all keys page by page sees none, as if the first page were empty.
// A rotation then seals nothing anew, and a pruning takes every older key for one that nothing needs.
import Database from 'better-sqlite3';

const { prepare } = Database.prototype;
Database.prototype.prepare = function (sql) {
  return prepare.call(
    this,
    sql.replace(/FROM keys WHERE key_hash > \? ORDER/, 'FROM keys WHERE key_hash > ? AND 0 ORDER'),
  );
};
