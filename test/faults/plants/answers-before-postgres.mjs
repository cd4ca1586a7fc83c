// A bug for the harnesses to catch: a change is answered at once, and sent to the server some 30 milliseconds later.
import { setTimeout } from 'node:timers';
import pg from 'pg';

const { query } = pg.Client.prototype;

pg.Client.prototype.query = function (config, ...rest) {
  const isChange = typeof config?.text === 'string' && config.text.includes('mac_before') && rest.length === 0;
  if (!isChange) return query.call(this, config, ...rest);
  setTimeout(() => query.call(this, config).catch(() => undefined), 30);
  return Promise.resolve({ rows: config.values[0].map((/** @type {string} */ key_hash) => ({ key_hash })) });
};
