// How the service behaves as it grows: `npm run build && node test/bench/growth.mjs [size ...]`, in a temp folder.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { argv, stdout } from 'node:process';
import { consume } from '../../build/keys/quota.js';
import { applyUpdate } from '../../build/keys/update.js';
import { createMemoryKeyRing } from '../../build/secrets/key-ring.js';
import { createSigner } from '../../build/secrets/signer.js';
import { openDatabase } from '../../build/storage/sqlite/database.js';
import { pageStatement } from '../../build/storage/sqlite/key-query.js';
import { createKeyStore } from '../../build/storage/sqlite/key-store.js';
import { importFigures } from './growth-import.mjs';
import { aliasOf, changeOf, entryOf, hashOf, now, seconds } from './growth-keys.mjs';
import { serviceFigures } from './growth-service.mjs';
import { startFigures } from './growth-start.mjs';

const ring = createMemoryKeyRing(new Date());
const signer = createSigner(() => ring);
const sizes = argv.length > 2 ? argv.slice(2).map(Number) : [1_000, 100_000, 1_000_000];
const batch = 500;
const pageSize = 20;
/** How many pages in a row are timed at each place, and how often. */
const pages = 9;
const rounds = 3;
const say = (/** @type {string} */ line) => stdout.write(`${line}\n`);

/** Lists to walk through. Most are promised to cost the same wherever a page stands, however many keys there are. */
const lists = {
  'all, KEY_HASH': { filter: {}, orderBy: 'KEY_HASH' },
  'all, ALIAS': { filter: {}, orderBy: 'ALIAS' },
  'all, LAST_UPDATED': { filter: {}, orderBy: 'LAST_UPDATED' },
  'big organisation, KEY_HASH': { filter: { orgID: 'big' }, orderBy: 'KEY_HASH' },
  'big organisation, ALIAS': { filter: { orgID: 'big' }, orderBy: 'ALIAS' },
  'big organisation, LAST_UPDATED': { filter: { orgID: 'big' }, orderBy: 'LAST_UPDATED' },
  'small organisation, KEY_HASH': { filter: { orgID: 'small' }, orderBy: 'KEY_HASH' },
  'selective tag, KEY_HASH': { filter: { tag: 'pilot' }, orderBy: 'KEY_HASH' },
  'broad tag, KEY_HASH': { filter: { tag: 'production' }, orderBy: 'KEY_HASH' },
  'big organisation and selective tag, KEY_HASH': { filter: { orgID: 'big', tag: 'pilot' }, orderBy: 'KEY_HASH' },
  'ACTIVE, KEY_HASH': { filter: { state: 'ACTIVE' }, orderBy: 'KEY_HASH' },
  'INACTIVE, KEY_HASH': { filter: { state: 'INACTIVE' }, orderBy: 'KEY_HASH' },
  'DELETED, KEY_HASH': { filter: { state: 'DELETED' }, orderBy: 'KEY_HASH' },
  'alias prefix, ALIAS': { filter: { aliasPrefix: 'Customer 0' }, orderBy: 'ALIAS' },
  'not promised: EXPIRED, KEY_HASH': { filter: { state: 'EXPIRED' }, orderBy: 'KEY_HASH' },
  'broad tag, ALIAS': { filter: { tag: 'production' }, orderBy: 'ALIAS' },
  'selective tag, ALIAS': { filter: { tag: 'pilot' }, orderBy: 'ALIAS' },
  'big organisation and broad tag, ALIAS': { filter: { orgID: 'big', tag: 'production' }, orderBy: 'ALIAS' },
  'not promised: broad alias prefix, KEY_HASH': { filter: { aliasPrefix: 'Customer 0' }, orderBy: 'KEY_HASH' },
  'not promised: DELETED, ALIAS': { filter: { state: 'DELETED' }, orderBy: 'ALIAS' },
};

/** What a value costs, in microseconds. */
async function timed(/** @type {() => Promise<unknown>} */ work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) * 1000;
}

function summary(/** @type {number[]} */ times) {
  if (times.length === 0) return { median: NaN, text: '-' };
  const sorted = [...times].sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? NaN);
  return { median: at(0.5), text: `${at(0.5)} [${at(0)}-${at(1)}]` };
}

const results = [];
for (const size of sizes) results.push(await measure(size));
say('\nmicroseconds, median [min-max], and x times the median of the first pages; ratio: largest size to smallest');
say(`| | ${sizes.map((size) => `${size} keys`).join(' | ')} | ratio |\n|---${'|---'.repeat(sizes.length + 1)}|`);
for (const name of Object.keys(results[0] ?? {})) {
  const row = results.map((result) => result[name] ?? { median: NaN, text: '' });
  const ratio = (row.at(-1)?.median ?? NaN) / (row[0]?.median ?? NaN);
  say(`| ${name} | ${row.map(({ text }) => text).join(' | ')} | ${ratio.toFixed(2)} |`);
}

async function measure(/** @type {number} */ size) {
  const folder = mkdtempSync(join(tmpdir(), 'keyfront-growth-'));
  const database = openDatabase(join(folder, 'keyfront.db'));
  const store = createKeyStore(database, signer);
  /** @type {Record<string, { median: number, text: string }>} */
  const found = {};
  try {
    const start = performance.now();
    for (let from = 0; from < size; from += batch) {
      await store.add(Array.from({ length: batch }, (_, index) => changeOf(from + index, size)));
      if (size > 100_000 && (from + batch) % 100_000 === 0) say(`${from + batch} keys after ${since(start)} s`);
    }
    const rate = Math.round((size / (performance.now() - start)) * 1000);
    database.pragma('wal_checkpoint(TRUNCATE)');
    const bytes = statSync(join(folder, 'keyfront.db')).size;
    found['fill, keys per second'] = { median: rate, text: String(rate) };
    found['bytes on disk per key'] = { median: bytes / size, text: String(Math.round(bytes / size)) };

    for (const [name, list] of Object.entries(lists))
      Object.assign(found, await walk(store, database, name, list, size));
    const some = (/** @type {number} */ index) => hashOf((index * 7919) % size);
    const each = (/** @type {(hash: string) => Promise<unknown>} */ work) => repeat(300, (index) => work(some(index)));
    found['read by hash'] = await each((hash) => store.find(hash));
    found['consume'] = await each((hash) =>
      store.consume(hash, (key) => {
        if (!key) throw new Error('There is no such key.');
        return consume({ ...key, deleted: undefined }, 1n, now);
      }),
    );
    found['update'] = await each((hash) =>
      store.update(hash, (key) => {
        if (!key) throw new Error('There is no such key.');
        const update = { definition: { ...key.definition, rate: 200 }, secrets: {}, resetQuota: false };
        const next = applyUpdate(key, update, now, () => false);
        return { next, audit: entryOf(key, next, 'update') };
      }),
    );
    database.close();
    say(`${size} keys: lists and single operations are done after ${since(start)} s`);
    Object.assign(found, await serviceFigures(folder, size), await startFigures(folder, size));
    Object.assign(found, await importFigures(size));
    say(`${size} keys: all is done after ${since(start)} s`);
    return found;
  } finally {
    database.close();
    rmSync(folder, { recursive: true });
  }
}

/** Times the first, the middle and the last full pages of a list, and looks at how SQLite means to find them. */
async function walk(store, database, name, { filter, orderBy }, size) {
  const query = { filter, orderBy, descending: false, limit: pageSize, now };
  const middle = {
    KEY_HASH: { value: '', keyHash: '8'.padEnd(64, '0') },
    ALIAS: { value: aliasOf(size / 2), keyHash: '' },
    LAST_UPDATED: { value: seconds - 15_768_000n, keyHash: '' },
  }[orderBy];
  const tail = await store.list({ ...query, descending: true, limit: pages * pageSize + 1 });
  const last = tail.length > pages * pageSize ? placeOf(tail.at(-1), orderBy) : undefined;
  const found = {};
  let median = NaN;
  for (const [where, from] of Object.entries({ first: undefined, middle, last })) {
    const times = [];
    for (let round = 0; round < rounds; round += 1) times.push(...(await walkFrom(store, query, from)));
    const { text, ...place } = summary(times);
    if (where === 'first') median = place.median;
    const ratio = Number.isNaN(place.median) ? '' : ` x${(place.median / median).toFixed(2)}`;
    found[`${name}: ${where} pages`] = { ...place, text: `${text}${ratio}` };
  }
  for (const after of size === sizes[0] ? [undefined, middle] : []) {
    const { sql, parameters } = pageStatement({ ...query, after });
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(parameters);
    const plan = steps.map(({ detail }) => detail).join('; ');
    // An index read in order from its beginning is a scan in name only; from a cursor, it has to be entered there.
    const isEntered = after === undefined ? / USING /.test(plan) : plan.startsWith('SEARCH');
    if (plan.includes('TEMP B-TREE') || !isEntered) say(`sorts or scans: ${name}: ${plan}`);
  }
  return found;
}

async function walkFrom(store, query, from) {
  const times = [];
  let after = from;
  const start = performance.now();
  while (times.length < pages && performance.now() - start < 2_000) {
    let keys = [];
    const time = await timed(async () => (keys = await store.list({ ...query, after })));
    if (keys.length < pageSize) break;
    times.push(time);
    after = placeOf(keys.at(-1), query.orderBy);
  }
  return times;
}

function placeOf({ keyHash, ...key }, orderBy) {
  return { value: valueOf(key, orderBy), keyHash };
}

function valueOf({ definition, lastUpdated }, orderBy) {
  return { KEY_HASH: '', ALIAS: definition.alias, LAST_UPDATED: lastUpdated }[orderBy];
}

async function repeat(/** @type {number} */ times, /** @type {(index: number) => Promise<unknown>} */ work) {
  const all = [];
  for (let index = 0; index < times; index += 1) all.push(await timed(() => work(index)));
  return summary(all);
}

function since(/** @type {number} */ start) {
  return Math.round((performance.now() - start) / 1000);
}
