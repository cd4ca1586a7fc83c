// @ts-check
// Fails where a contract in schema/ would break a client and CHANGELOG.md does not say so: `npm run contracts`.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { baseOf, fileAt } from './base.mjs';
import { contracts, verdictOn } from './verdict.mjs';

const folder = process.cwd();
const base = baseOf(folder, process.env['SCHEMA_BASE']);
if (!base) {
  console.log('The contracts are compared with nothing: there is no earlier commit here. Name one in SCHEMA_BASE.');
  process.exit(0);
}
console.log(`The contracts are compared with ${base.commit.slice(0, 12)}, ${base.reason}.`);

const here = (/** @type {string} */ file) =>
  existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8').trimEnd() : undefined;
const changelog = here('CHANGELOG.md') ?? '';

let refusals = 0;
for (const file of contracts) {
  const { refused, named, dangerous } = await verdictOn(file, fileAt(folder, base.commit, file), here(file), changelog);
  refusals += refused.length;
  const lines = [
    ...dangerous.map((change) => ({ ...change, kind: 'dangerous' })),
    ...named.map((change) => ({ ...change, kind: 'breaking, as the changelog says' })),
    ...refused.map((change) => ({ ...change, kind: 'BREAKING' })),
  ];
  for (const { kind, coordinate, message } of lines) console.log(`${file}: ${kind}: ${coordinate}: ${message}`);
}

if (refusals > 0) {
  console.error(
    `Breaking and not announced: ${refusals}. Take each back, or name its place in backquotes under Unreleased in CHANGELOG.md.`,
  );
  process.exit(1);
}
