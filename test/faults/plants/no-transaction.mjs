// A bug for the harnesses to catch: every statement is a transaction of its own, so that a change can be done by half.
import Database from 'better-sqlite3';

Database.prototype.transaction = (body) =>
  Object.assign((...args) => body(...args), { immediate: body, deferred: body, exclusive: body });
