// How the service behaves as it grows: `npm run build && node test/bench/growth.mjs [size ...]`, in a temp folder.
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { argv, stdout } from 'node:process';
import { followKeyRing } from '../../build/crypto/key-ring.js';
import { createRowSigner } from '../../build/crypto/row-signer.js';
import { positionOfEntry } from '../../build/keys/key-query.js';
import { openDatabase } from '../../build/storage/sqlite/connection.js';
import { sqliteDialect } from '../../build/storage/sql/dialect.js';
import { pageStatement } from '../../build/storage/sql/keys/key-query.js';
import { parametersOf } from '../../build/storage/sqlite/session.js';
import { fill } from './growth-fill.mjs';
import { importFigures } from './growth-import.mjs';
import { aliasOf, now, seconds } from './growth-keys.mjs';
import { serviceFigures } from './growth-service.mjs';
import { startFigures } from './growth-start.mjs';
import { createKeyStore } from './growth-store.mjs';
import { describeMachine, resultsFolder, versions } from './machine.mjs';

const machine = describeMachine();
const sizes = argv.length > 2 ? argv.slice(2).map(Number) : [1_000, 100_000, 1_000_000];
const pageSize = 20;
/** Number of consecutive pages at each position, and of their repetitions. */
const pages = 9;
const rounds = 3;
const write = (/** @type {string} */ line) => stdout.write(`${line}\n`);

/** The measured lists. The cost of most pages must depend neither on their position nor on the number of keys. */
const lists = {
  'all, KEY_HASH': { filter: {}, orderBy: 'KEY_HASH' },
  'all, ALIAS': { filter: {}, orderBy: 'ALIAS' },
  'all, LAST_UPDATED': { filter: {}, orderBy: 'LAST_UPDATED' },
  'big organization, KEY_HASH': { filter: { orgID: 'big' }, orderBy: 'KEY_HASH' },
  'big organization, ALIAS': { filter: { orgID: 'big' }, orderBy: 'ALIAS' },
  'big organization, LAST_UPDATED': { filter: { orgID: 'big' }, orderBy: 'LAST_UPDATED' },
  'small organization, KEY_HASH': { filter: { orgID: 'small' }, orderBy: 'KEY_HASH' },
  'selective tag, KEY_HASH': { filter: { tagsAll: ['pilot'] }, orderBy: 'KEY_HASH' },
  'broad tag, KEY_HASH': { filter: { tagsAll: ['production'] }, orderBy: 'KEY_HASH' },
  'big organization and selective tag, KEY_HASH': { filter: { orgID: 'big', tagsAll: ['pilot'] }, orderBy: 'KEY_HASH' },
  'ACTIVE, KEY_HASH': { filter: { states: ['ACTIVE'] }, orderBy: 'KEY_HASH' },
  'INACTIVE, KEY_HASH': { filter: { states: ['INACTIVE'] }, orderBy: 'KEY_HASH' },
  'DELETED, KEY_HASH': { filter: { states: ['DELETED'] }, orderBy: 'KEY_HASH' },
  'alias prefix, ALIAS': { filter: { aliasPrefix: 'Customer 0' }, orderBy: 'ALIAS' },
  'not promised: EXPIRED, KEY_HASH': { filter: { states: ['EXPIRED'] }, orderBy: 'KEY_HASH' },
  'broad tag, ALIAS': { filter: { tagsAll: ['production'] }, orderBy: 'ALIAS' },
  'selective tag, ALIAS': { filter: { tagsAll: ['pilot'] }, orderBy: 'ALIAS' },
  'big organization and broad tag, ALIAS': { filter: { orgID: 'big', tagsAll: ['production'] }, orderBy: 'ALIAS' },
  'not promised: broad alias prefix, KEY_HASH': { filter: { aliasPrefix: 'Customer 0' }, orderBy: 'KEY_HASH' },
  'not promised: DELETED, ALIAS': { filter: { states: ['DELETED'] }, orderBy: 'ALIAS' },
};

/** Returns the duration of work in microseconds. */
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

/** @type {{ data: string, size: number, found: Record<string, { median: number, text: string, ratio?: string | undefined }> }[]} */
const folders = [];
try {
  for (const size of sizes) {
    const data = mkdtempSync(join(tmpdir(), 'keyfront-growth-'));
    folders.push({ data, size, found: {} });
    await fill(data, size);
    notify(`${size} keys are there`);
  }
  for (const folder of folders) Object.assign(folder.found, await listFigures(folder));
  notify('all lists are read');
  const figures = await serviceFigures(folders);
  figures.forEach((found, index) => Object.assign(folders[index]?.found ?? {}, found));
  notify('all keys are read and updated');
  for (const { data, size, found } of folders) Object.assign(found, await startFigures(data, size));
  report();
} finally {
  for (const { data } of folders) rmSync(data, { recursive: true });
}
for (const { size, found } of folders) {
  Object.assign(found, await importFigures(size));
  notify(`${size} keys are imported`);
}
report();

/** Writes the results: before the longest step, which may be interrupted, and after it. */
function report() {
  const [first, last] = [folders[0]?.found ?? {}, folders.at(-1)?.found ?? {}];
  const rows = Object.keys(first).map((name) => {
    const ratio = last[name]?.ratio ?? quotient(last[name]?.median, first[name]?.median);
    return `| ${name} | ${folders.map(({ found }) => found[name]?.text ?? '').join(' | ')} | ${ratio} |`;
  });
  const { date, commit, machine: computer, loadAverage } = machine;
  const { node, sqlite, 'better-sqlite3': driver } = versions();
  const table = [
    `${date}, commit ${commit}. ${computer}; load average ${loadAverage.toFixed(1)} before and ` +
      `${describeMachine().loadAverage.toFixed(1)} after. Node ${node}, SQLite ${sqlite}, better-sqlite3 ${driver}, files in ${tmpdir()}.`,
    '',
    'Microseconds unless another unit is given: median [min-max], and x times the median of the first pages. The ratio is of the largest size to the smallest.',
    '',
    `| | ${sizes.map((size) => `${size} keys`).join(' | ')} | ratio |`,
    `|---${'|---'.repeat(sizes.length + 1)}|`,
    ...rows,
    '',
  ].join('\n');
  const folder = resultsFolder();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'growth.md'), table);
  write(`${table}\nWritten to ${folder}`);
}

function quotient(value = NaN, base = NaN) {
  return Number.isNaN(value / base) ? '-' : (value / base).toFixed(2);
}

/** Measures the pages of lists, and the number of bytes for a key. */
async function listFigures(/** @type {{ data: string, size: number }} */ { data, size }) {
  const file = join(data, 'keyfront.db');
  const database = openDatabase(file);
  try {
    const store = createKeyStore(database, createRowSigner(followKeyRing(join(data, 'key-ring.json'))));
    const bytes = statSync(file).size / size;
    const found = { 'bytes on disk per key': { median: bytes, text: String(Math.round(bytes)) } };
    for (const [name, list] of Object.entries(lists))
      Object.assign(found, await walk(store, database, name, list, size));
    return found;
  } finally {
    database.close();
  }
}

/** Measures the first, the middle and the last full pages of a list, and checks the query plans of SQLite. */
async function walk(store, database, name, { filter, orderBy }, size) {
  const query = { filter, orderBy, descending: false, limit: pageSize, now };
  const middle = {
    KEY_HASH: { value: '', keyHash: '8'.padEnd(64, '0') },
    ALIAS: { value: aliasOf(size / 2), keyHash: '' },
    LAST_UPDATED: { value: seconds - 15_768_000n, keyHash: '' },
  }[orderBy];
  const { keys: tail } = await store.list({ ...query, descending: true, limit: pages * pageSize + 1 });
  const last = tail.length > pages * pageSize ? positionOfEntry({ key: tail.at(-1) }, orderBy) : undefined;
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
    const { sql, parameters } = pageStatement(sqliteDialect, { ...query, after }, () => 1n);
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(parametersOf(parameters));
    const plan = steps.map(({ detail }) => detail).join('; ');
    // From the beginning, SQLite reports a scan of an index, or of the rows, in order; from a cursor, the plan must be a search.
    const isEntered = after === undefined ? / USING |^SCAN k$/.test(plan) : plan.startsWith('SEARCH');
    if (plan.includes('TEMP B-TREE') || !isEntered) write(`sorts or scans: ${name}: ${plan}`);
  }
  return found;
}

async function walkFrom(store, query, from) {
  const times = [];
  let after = from;
  const start = performance.now();
  while (times.length < pages && performance.now() - start < 2_000) {
    let keys = [];
    const time = await timed(async () => ({ keys } = await store.list({ ...query, after })));
    if (keys.length < pageSize) break;
    times.push(time);
    after = positionOfEntry({ key: keys.at(-1) }, query.orderBy);
  }
  return times;
}

function notify(/** @type {string} */ what) {
  write(`${Math.round(performance.now() / 1000)} s: ${what}`);
}
