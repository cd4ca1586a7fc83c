// A bug for the harnesses to catch: a change is answered at once, and committed with others some 30 milliseconds later.
import Database from 'better-sqlite3';

Database.prototype.transaction = function (body) {
  const late = (...args) => {
    if (!this.inTransaction) {
      this.exec('BEGIN IMMEDIATE');
      setTimeout(() => this.open && this.inTransaction && this.exec('COMMIT'), 30);
    }
    return body(...args);
  };
  return Object.assign(late, { immediate: late, deferred: late, exclusive: late });
};
