// Generates mutants with Stryker and runs tests against them: `node test/mutants/stryker/run.mjs keys` (see `groups`). The tests of
// each stage run only against the mutants that those of the stages before did not detect. Prints the survivors and a
// table, and fails below a score of 90 %. Install Stryker first:
// npm install --no-save --ignore-scripts @stryker-mutator/core@10.1.1 @stryker-mutator/vitest-runner@10.1.1
import { join, relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';

const root = join(import.meta.dirname, '../../..');
const minScore = 90;

/**
 * @typedef {object} Group
 * @property {string} mutate the files to mutate
 * @property {readonly string[]} stages the test files of each stage
 * @property {boolean} [isStatic] whether the modules compute statements during their import: the mutants of that code run
 *   in each stage
 */

/** @satisfies {Record<string, Group>} */
const groups = {
  keys: {
    mutate: 'src/keys/**/*.ts',
    stages: [
      'test/unit/keys/**/*.test.ts test/unit/graphql/schema.test.ts test/unit/rest/openapi.test.ts',
      'test/service/keys/*.test.ts',
      'test/service/{rest,graphql,auth}/*.test.ts test/service/change-log.test.ts test/service/cli/{key*,rotation}.test.ts',
    ],
  },
  sql: {
    mutate: 'src/storage/sql/**/*.ts',
    // The fastest files first, which run once for each static mutant.
    stages: [
      'test/unit/storage/*.test.ts test/storage/{sqlite,copy-store,credential-store,key-states,migrate,purge,settings,webhook-store}.test.ts',
      'test/storage/{change-feed,key-writer,postgres,rollback,signatures}.test.ts',
      'test/storage/{checkpoints,load,postgres-plans}.test.ts test/system/consistency/pages.test.ts ' +
        'test/service/{graphql/damaged-items,graphql/org-keys,graphql/paging,graphql/statement-counts,keys/idempotency,keys/quota,rest/org-keys}.test.ts',
    ],
    isStatic: true,
  },
  executor: {
    mutate: 'src/graphql/execution/executor/**/*.ts',
    stages: [
      'test/unit/graphql/*.test.ts',
      'test/service/graphql/{damaged-items,deadline,executor-served,introspection,limits,masking,operation-cache}.test.ts',
    ],
  },
  json: { mutate: 'src/lib/json*.ts', stages: ['test/unit/**/*json*.test.ts'] },
};

const options = {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', './test/mutants/stryker/selection.mjs'],
  checkers: ['selection'],
  // `related` would miss tests that reach a file through the whole service.
  vitest: { configFile: 'test/mutants/stryker/vitest.config.mjs', related: false },
  coverageAnalysis: /** @type {const} */ ('perTest'),
  ignorePatterns: ['dist', '/build', 'data'],
  reporters: ['progress-append-only'],
  thresholds: { high: 95, low: minScore, break: null },
  concurrency: 1,
  // Stryker detects endless loops by their number of rounds. No mutant should reach this limit because a machine is busy.
  timeoutMS: 60_000,
  dryRunTimeoutMinutes: 30,
  // Not in node_modules, where Vitest takes the copy of the project for packages and records no coverage.
  tempDirName: '.stryker-tmp',
};

/** The statuses of a mutant that was run; `selection.mjs` reports the others as if they had type errors. */
const outcomes = ['Killed', 'Timeout', 'Survived', 'NoCoverage'];
/** @typedef {Awaited<ReturnType<Stryker['runMutationTest']>>[number]} Result */
const isUndetected = (/** @type {Result} */ { status }) => status === 'Survived' || status === 'NoCoverage';

const names = /** @type {(keyof typeof groups)[]} */ (process.argv.slice(2));
for (const name of names.length > 0 ? names : /** @type {typeof names} */ (Object.keys(groups))) {
  const results = await runStages(groups[name]);
  if (printResults(results) < minScore) process.exitCode = 1;
}

/** @returns {Promise<Result[]>} */
async function runStages(/** @type {Group} */ { mutate, stages, isStatic = false }) {
  /** @type {Map<string, Result>} */
  const results = new Map();
  delete process.env['STRYKER_ONLY'];
  for (const [index, tests] of stages.entries()) {
    process.env['STRYKER_TESTS'] = tests;
    // Each mutant of code that runs during an import needs all tests: for these, those of the first stage do.
    const ignoreStatic = index > 0 && !isStatic;
    const ran = await new Stryker({ ...options, mutate: [mutate], ignoreStatic }).runMutationTest();
    // The identifiers are those of the stage before, because the same files are mutated.
    for (const result of ran.filter(({ status }) => outcomes.includes(status))) {
      if (result.status !== 'NoCoverage' || !results.has(result.id)) results.set(result.id, result);
    }
    const undetected = [...results.values()].filter(isUndetected);
    console.log(`${undetected.length} of ${results.size} mutants are undetected after ${tests}`);
    if (undetected.length === 0) break;
    process.env['STRYKER_ONLY'] = undetected.map(({ id }) => id).join(',');
  }
  return [...results.values()];
}

/** Returns the score in percent. */
function printResults(/** @type {readonly Result[]} */ results) {
  for (const { fileName, location, mutatorName, replacement, status } of results.filter(isUndetected)) {
    const place = `${relative(root, fileName)}:${location.start.line}:${location.start.column}`;
    console.log(`${status} ${place} ${mutatorName}: ${replacement?.replace(/\s+/g, ' ')}`);
  }
  const files = Map.groupBy(results, ({ fileName }) => relative(root, fileName));
  const rows = [...files, /** @type {const} */ (['all', results])].map(([file, ofFile]) => {
    const [killed = 0, timeout = 0, survived = 0, uncovered = 0] = outcomes.map(
      (outcome) => ofFile.filter(({ status }) => status === outcome).length,
    );
    const score = Math.floor((1000 * (killed + timeout)) / ofFile.length) / 10;
    return { file, mutants: ofFile.length, killed, timeout, survived, uncovered, score };
  });
  console.table(rows);
  return rows.at(-1)?.score ?? 0;
}
