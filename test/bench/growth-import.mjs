import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { stringifyJSON } from '../../build/lib/json.js';
import { definitionToWire } from '../../build/wire/field-names.js';
import { definitionOf, keyIDOf, orgIDOf } from './growth-keys.mjs';
import { memoryMiB, node } from './process.mjs';

const main = new URL('../../dist/main.js', import.meta.url).pathname;

/** Measures the rate and the maximum memory of `keyfront keys import` into a new data folder. */
export async function importFigures(/** @type {number} */ size) {
  const folder = mkdtempSync(join(tmpdir(), 'keyfront-growth-import-'));
  try {
    const file = join(folder, 'keys.jsonl');
    await writeKeys(file, size);
    const env = { PATH: process.env.PATH, NODE_ENV: 'production', KEYFRONT_DATA: join(folder, 'data') };
    const start = performance.now();
    const child = node(undefined, [main, 'keys', 'import', file], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    const exited = once(child, 'exit');
    let peak = 0;
    while (child.exitCode === null) {
      try {
        peak = Math.max(peak, memoryMiB(child.pid, 'VmHWM') || 0);
      } catch {
        // The process has ended meanwhile.
      }
      await Promise.race([exited, setTimeout(50)]);
    }
    if (child.exitCode !== 0) throw new Error(`The import ended with ${child.exitCode}.`);
    const rate = (size / (performance.now() - start)) * 1000;
    return {
      'import, keys a second': { median: rate, text: String(Math.round(rate)) },
      'import, MiB at most': { median: peak, text: String(Math.round(peak)) },
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes a file with the definitions of `size` keys for `keyfront keys import`. */
export async function writeKeys(/** @type {string} */ file, /** @type {number} */ size) {
  await pipeline(Readable.from(linesOf(size)), createWriteStream(file));
}

function* linesOf(/** @type {number} */ size) {
  for (let n = 0; n < size; n += 1) {
    const definition = definitionToWire({ ...definitionOf(n, size), orgID: orgIDOf(n, size) });
    yield `${stringifyJSON({ key_id: keyIDOf(n), ...definition })}\n`;
  }
}
