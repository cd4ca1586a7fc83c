// A bug for the harnesses to catch: commits are not synced (synchronous=NORMAL, the default of this build of SQLite), and
// whoever asks is told that they are.
import Database from 'better-sqlite3';

const { pragma } = Database.prototype;
Database.prototype.pragma = function (source, options) {
  if (/^\s*synchronous\s*=/i.test(source)) return pragma.call(this, 'synchronous = NORMAL', options);
  const answer = pragma.call(this, source, options);
  return /^\s*synchronous\s*$/i.test(source) && options?.simple === true ? 2 : answer;
};
