// The console in Chromium with many keys: `node test/bench/console.mjs [-- --keys 1000000 --data FOLDER]`. Keeps FOLDER for
// the next run.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stdout } from 'node:process';
import { parseArgs } from 'node:util';
import { startBrowser } from '../system/browser/chromium.ts';
import { writeKeys } from './growth-import.mjs';
import { aliasOf } from './growth-keys.mjs';
import { describeMachine, resultsFolder, versions } from './machine.mjs';
import { startServer } from './process.mjs';
import { quantile, spread } from './statistics.mjs';

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '1000000' },
    data: { type: 'string' },
    rounds: { type: 'string', default: '9' },
  },
});
const size = Number(values.keys);
const deadlineMs = 60_000;
const rounds = Number(values.rounds);
const main = new URL('../../dist/main.js', import.meta.url).pathname;
const write = (/** @type {string} */ line) => stdout.write(`${line}\n`);
const machine = describeMachine();
const folder = mkdtempSync(join(tmpdir(), 'keyfront-console-'));
const data = values.data ?? join(folder, 'data');

const rowCount = `document.querySelectorAll('table.keys tbody tr').length`;
const firstRow = `document.querySelector('table.keys tbody a.name')?.innerText`;
const total = `document.querySelector('.tabs .count')?.innerText ?? ''`;
const click = (/** @type {string} */ selector, /** @type {string} */ label) =>
  `[...document.querySelectorAll('${selector}')].find(({ innerText }) => innerText === '${label}').click()`;
const middle = aliasOf(size / 2);
/** Types into the search field and sends its form. */
const search = (/** @type {string} */ typed) =>
  `(() => {
    const field = document.querySelector('.search input');
    field.value = '${typed}';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    requestAnimationFrame(() => field.form.requestSubmit());
  })()`;

/** Actions of the user, and the condition on the page after each. A step begins where the previous one ended. */
const steps = {
  'the numbers of keys': { act: '0', done: `${total} !== ''` },
  'next page': { act: click('nav.pages a', 'Next page'), done: `${firstRow} > '${aliasOf(49)}'` },
  'search by name': {
    act: search(middle.slice(0, 14)),
    done: `${firstRow}.startsWith('${middle.slice(0, 14)}')`,
  },
  'without the filter': { act: click('a', 'Clear all'), done: `${firstRow} === '${aliasOf(0)}'` },
  'sort by time of the last change': {
    act: click('button', 'Last change'),
    done: `${firstRow} !== '${aliasOf(0)}'`,
  },
};

/** Scrolls the page down and up by 40 pixels per frame, and resolves to the milliseconds of each frame. */
const scrolling = `new Promise((resolve) => {
  const frames = [];
  let step = 40;
  let before;
  const next = (now) => {
    if (before !== undefined) frames.push(now - before);
    before = now;
    const top = scrollY;
    scrollBy({ top: step, behavior: 'instant' });
    if (scrollY === top) step = -step;
    if (frames.length < 180) requestAnimationFrame(next);
    else { scrollTo(0, 0); resolve(frames); }
  };
  requestAnimationFrame(next);
})`;

/** @type {Record<string, number[]>} */
const times = {};
/** @type {number[]} */
const frames = [];
let counted = '';
const record = (/** @type {string} */ name, /** @type {number} */ time) => (times[name] ??= []).push(time);

const env = { PATH: process.env.PATH, NODE_ENV: 'production', KEYFRONT_DATA: data };
const keyfront = (/** @type {string[]} */ ...args) =>
  execFileSync(process.execPath, [main, ...args], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
if (!existsSync(data)) {
  const file = join(folder, 'keys.jsonl');
  await writeKeys(file, size);
  const start = performance.now();
  keyfront('keys', 'import', file);
  write(`${size} keys are imported after ${Math.round((performance.now() - start) / 1000)} s`);
}
const credential = keyfront('credentials', 'issue', '--kind', 'service', '--label', 'bench');
const server = await startServer(
  { name: 'keyfront', label: '', script: '../../dist/main.js', args: ['serve'], workloads: [] },
  {
    data,
    log: join(folder, 'server.log'),
    flags: [],
    cpus: undefined,
    more: { KEYFRONT_CONSOLE: 'on' },
  },
);
const browser = await startBrowser();
try {
  for (let round = 0; round < rounds; round += 1) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    const timed = (/** @type {string} */ act, /** @type {string} */ done) => page.evaluate(timedAction(act, done));
    await page.goto(`${server.origin}/console`);
    await page.locator('#credential').fill(credential);
    record('first page after the sign-in', await timed(click('form button', 'Sign in'), `${rowCount} === 50`));
    frames.push(...(await page.evaluate(scrolling)));
    for (const [name, { act, done }] of Object.entries(steps)) {
      record(name, await timed(act, done));
      if (name === 'the numbers of keys') counted = await page.evaluate(total);
    }
    // The service may still count for this page, for up to 5 s, which would slow the next round.
    await page.waitForTimeout(6_000);
    await context.close();
  }
} finally {
  await browser.close();
  await server.stop();
  rmSync(folder, { recursive: true });
}
report();

/** Acts on the page, and resolves to the milliseconds until the frame after the one that shows the result. */
function timedAction(/** @type {string} */ act, /** @type {string} */ done) {
  return `new Promise((resolve, reject) => {
    const start = performance.now();
    const time = () => performance.now() - start;
    const check = () => {
      if (${done}) requestAnimationFrame(() => resolve(time()));
      else if (time() > ${deadlineMs}) reject(new Error('not shown: ' + ${JSON.stringify(done)}));
      else requestAnimationFrame(check);
    };
    ${act};
    requestAnimationFrame(check);
  })`;
}

function report() {
  const rows = Object.entries(times).map(([name, all]) => {
    const { median, min, max } = spread(all);
    return `| ${name} | ${Math.round(median)} [${Math.round(min)}-${Math.round(max)}] |`;
  });
  const at = (/** @type {number} */ share) => quantile(frames, share).toFixed(1);
  const { date, commit, machine: computer, loadAverage } = machine;
  const { node, sqlite } = versions();
  const table = [
    `${date}, commit ${commit}. ${computer}; load average ${loadAverage.toFixed(1)} before and ` +
      `${describeMachine().loadAverage.toFixed(1)} after. Node ${node}, SQLite ${sqlite}, Chromium ${browser.version()} without a GPU.`,
    '',
    `${size} keys; the view of all shows: ${counted}. ${rounds} rounds, each in a new context of the browser.`,
    '',
    '| | ms until shown: median [min-max] |',
    '|---|---|',
    ...rows,
    `| a frame while scrolling | ${at(0.5)}, 95 %: ${at(0.95)} |`,
    '',
  ].join('\n');
  const results = resultsFolder();
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, 'console.md'), table);
  write(`${table}\nWritten to ${results}`);
}
