// A mutant: reading all keys page by page returns none, as if the first page were empty. A rotation then encrypts nothing
// again, and `secrets prune` removes every older key, because no row seems to need it.
import Database from 'better-sqlite3';

const { prepare } = Database.prototype;
Database.prototype.prepare = function (sql) {
  return prepare.call(
    this,
    sql.replace(/FROM keys WHERE key_hash > \$1 ORDER/, 'FROM keys WHERE key_hash > $$1 AND 0 ORDER'),
  );
};
