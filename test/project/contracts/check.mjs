// @ts-check
// Fails when a contract in schema/ could break a client and CHANGELOG.md gained no entry for it: `npm run contracts`.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { basesOf, fileAt } from './base.mjs';
import { contracts, verdictOn } from './verdict.mjs';

const folder = process.cwd();
const changelogFile = 'CHANGELOG.md';

const here = (/** @type {string} */ file) =>
  existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8').trimEnd() : undefined;

/** @returns {string | undefined} */
function since() {
  const { contracts: settings } = JSON.parse(here('package.json') ?? '{}');
  return settings?.since;
}

function bases() {
  try {
    return basesOf(folder, process.env['SCHEMA_BASE'], since());
  } catch (error) {
    console.error(error instanceof Error ? error.message : 'The base of the contracts cannot be found.');
    return process.exit(1);
  }
}

const found = bases();
if (found.length === 0) {
  console.log(
    'The contracts are compared with nothing: this clone lacks the commits for it. Fetch them, or name one in SCHEMA_BASE.',
  );
  process.exit(0);
}
const changelog = here(changelogFile) ?? '';
/** The same change, seen from several bases, is printed once. @type {Set<string>} */
const printed = new Set();
let rejections = 0;
for (const { commit, reason } of found) {
  console.log(`The contracts are compared with ${commit.slice(0, 12)}, ${reason}.`);
  const before = fileAt(folder, commit, changelogFile) ?? '';
  for (const file of contracts) {
    const { rejected, named } = await verdictOn(file, fileAt(folder, commit, file), here(file), changelog, before);
    const lines = [
      ...named.map(
        (change) => `${file}: ${kindOf(change)}, named in the changelog: ${change.coordinate}: ${change.message}`,
      ),
      ...rejected.map((change) => `${file}: ${kindOf(change).toUpperCase()}: ${change.coordinate}: ${change.message}`),
    ];
    for (const line of lines) if (!printed.has(line)) console.log(line);
    for (const line of lines.slice(named.length)) if (!printed.has(line)) rejections += 1;
    for (const line of lines) printed.add(line);
  }
}

/** @param {import('./verdict.mjs').Change} change */
function kindOf({ isBreaking }) {
  return isBreaking ? 'breaking' : 'dangerous';
}

if (rejections > 0) {
  console.error(
    `Not announced: ${rejections}. Take each back, or add an entry under Unreleased in ${changelogFile} that names its place in backquotes. ` +
      'Entries that the base had already do not count.',
  );
  process.exit(1);
}
