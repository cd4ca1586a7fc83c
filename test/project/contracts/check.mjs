// @ts-check
// `node test/project/contracts/check.mjs` compares schema/ with the commit of the last release, `contracts.since` of package.json. It fails
// for each change that clients may notice, unless CHANGELOG.md names the changed element in backquotes under Unreleased.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { graphqlChanges } from './graphql-changes.mjs';
import { openAPIChanges } from './openapi-changes.mjs';

/** @type {Readonly<Record<string, (before: string, after: string) => import('./graphql-changes.mjs').Changes>>} */
const contracts = {
  'schema/schema.graphql': graphqlChanges,
  'schema/subgraph.graphql': graphqlChanges,
  'schema/openapi.json': openAPIChanges,
};

/** @type {{ contracts: { since: string } }} */
const { contracts: settings } = JSON.parse(readFileSync('package.json', 'utf8'));
const unreleased = /^## Unreleased$.*?(?=^## |(?![^]))/ms.exec(readFileSync('CHANGELOG.md', 'utf8'))?.[0] ?? '';

/**
 * Returns what git prints; undefined if it fails.
 * @param {string[]} args
 */
function git(...args) {
  try {
    return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
}

if (git('cat-file', '-e', `${settings.since}^{commit}`) === undefined) {
  console.log(
    'The contracts are compared with nothing: this clone lacks the commit `contracts.since` of package.json.',
  );
  process.exit(process.env['REQUIRE_ALL'] ? 1 : 0);
}

let missing = 0;
for (const [file, changesBetween] of Object.entries(contracts)) {
  const before = git('show', `${settings.since}:${file}`);
  if (before === undefined) continue;
  const changes = existsSync(file)
    ? await changesBetween(before, readFileSync(file, 'utf8'))
    : [{ coordinate: file, message: 'The contract was removed' }];
  const unnamed = changes.filter(({ coordinate }) => !unreleased.includes(`\`${coordinate}\``));
  for (const { coordinate, message } of unnamed) console.error(`${file}: ${coordinate}: ${message}`);
  missing += unnamed.length;
}
if (missing > 0) {
  console.error(`CHANGELOG.md must name these ${missing} changes in backquotes under Unreleased.`);
  process.exit(1);
}
