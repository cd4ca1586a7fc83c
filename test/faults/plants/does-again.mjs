// A bug for the harnesses to catch: some transactions are tried again although they were done. What is done twice then
// raises two versions, and what was meant for one version is refused the second time.
import Database from 'better-sqlite3';

const { transaction } = Database.prototype;
let count = 0;
Database.prototype.transaction = function (body) {
  const once = transaction.call(this, body);
  const again = (...args) => {
    const done = once.immediate(...args);
    return (count += 1) % 5 === 0 ? once.immediate(...args) : done;
  };
  return Object.assign(again, { immediate: again });
};
