// A bug for the harnesses to catch: a transaction that the disk did not take is answered as if it had been.
import Database from 'better-sqlite3';

const { transaction } = Database.prototype;
Database.prototype.transaction = function (body) {
  let answer;
  const careful = transaction.call(this, (...args) => (answer = body(...args)));
  const careless = (...args) => {
    try {
      return careful.immediate(...args);
    } catch (error) {
      if (answer === undefined || !/^SQLITE_(IOERR|FULL)/.test(error.code)) throw error;
      return answer;
    }
  };
  return Object.assign(careless, { immediate: careless });
};
