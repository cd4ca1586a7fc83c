// Runs the tests of `npm test` that must detect each mutant, against the mutant: `node test/mutants/run.mjs NAME...`. Without
// a name, for all mutants, and then runs the suites of processes that start mutants themselves. Ends with exit code 1 if a
// mutant makes no test fail, and before any run if one does not match its source.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMutant, isOfQuickTests, mutantNames, readMutant } from './mutant.mjs';

const root = join(import.meta.dirname, '../..');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const folder = await mkdtemp(join(tmpdir(), 'keyfront-mutants-'));
const names = process.argv.length > 2 ? process.argv.slice(2) : mutantNames();
await requireMatches();
let survivors = 0;
try {
  for (const name of names) {
    const files = readMutant(name).detectedBy.filter(isOfQuickTests);
    if (files.length === 0) continue;
    const failed = await failedTests(name, files);
    if (failed.length === 0) survivors += 1;
    console.log(`${failed.length > 0 ? 'detected' : 'SURVIVED'}  ${name}: ${failed[0] ?? files.join(' ')}`);
  }
} finally {
  await rm(folder, { recursive: true });
}
console.log(survivors === 0 ? 'Every mutant was detected.' : `${survivors} mutants survived.`);
process.exitCode = survivors === 0 ? 0 : 1;
if (process.argv.length === 2) {
  const options = ['--config', 'test/vitest.config.ts', '-t', 'mutant', 'test/faults', 'test/system/consistency'];
  const env = { ...process.env, MUTANTS: '1' };
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...options], { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}

/** @throws {Error} with the mutants that do not match their source, whose files no test could import. */
async function requireMatches() {
  const mismatches = [];
  for (const mutant of names.map(readMutant)) {
    for (const file of new Set(mutant.edits.map((edit) => edit.file))) {
      try {
        applyMutant(mutant, file, await readFile(join(root, file), 'utf8'));
      } catch (error) {
        mismatches.push(error instanceof Error ? error.message : String(error));
      }
    }
  }
  if (mismatches.length > 0) throw new Error(mismatches.join('\n'));
}

/**
 * The titles of the tests that failed. A file that fails as a whole, such as one that the mutant keeps from being
 * imported, shows nothing and counts as none.
 *
 * @type {(name: string, files: readonly string[]) => Promise<string[]>}
 */
async function failedTests(name, files) {
  const output = join(folder, 'result.json');
  await rm(output, { force: true });
  const options = ['--config', 'test/vitest.config.ts', '--bail=1', '--reporter=json', `--outputFile=${output}`];
  const child = spawn(process.execPath, [vitest, 'run', ...options, ...files], {
    cwd: root,
    env: { ...process.env, MUTANT: name },
    stdio: 'ignore',
  });
  await once(child, 'exit');
  const { testResults } = JSON.parse(await readFile(output, 'utf8'));
  return testResults
    .flatMap(
      (/** @type {{ assertionResults: { status: string, fullName: string }[] }} */ file) => file.assertionResults,
    )
    .filter((/** @type {{ status: string }} */ test) => test.status === 'failed')
    .map((/** @type {{ fullName: string }} */ test) => test.fullName);
}
