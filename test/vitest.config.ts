import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { bundlesFolder } from './support/bundles.js';
import { injectMutant } from './mutants/plugin.js';
import { LongestFirst } from './support/longest-first.js';
import { RequireAll } from './support/require-all.js';

const root = new URL('..', import.meta.url).pathname;

/** Files that the build puts beside a module, which refers to them by a relative path. */
const bundled = [
  { module: '/sqlite/reader.ts', path: './read-worker.js', bundle: `${bundlesFolder}read-worker.mjs` },
  {
    module: '/sqlite/log-checkpoints.ts',
    path: './checkpoint-worker.js',
    bundle: `${bundlesFolder}checkpoint-worker.mjs`,
  },
  { module: '/http/static-asset.ts', path: './browser/', bundle: `${bundlesFolder}browser/` },
];

const bundledFiles = {
  name: 'bundled-files',
  transform(code: string, id: string) {
    const found = bundled.find(({ module }) => id.endsWith(module));
    return found && code.replaceAll(found.path, found.bundle);
  },
};

/** The name of a mutant to run the tests against: see `node test/mutants/run.mjs`. */
const mutant = process.env['MUTANT'];

/** What suites of services and processes start once for a run. */
const globalSetup = ['test/support/bundles.ts', 'test/support/postgres-setup.ts'];

export default defineConfig({
  plugins: [bundledFiles, ...(mutant === undefined ? [] : [injectMutant(mutant)])],
  // Packages as Node resolves them: graphql rejects types of another build of itself, such as that for `development`.
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  resolve: {
    alias: [
      // What the package exports, without a build before the tests.
      { find: /^keyfront\/client$/, replacement: new URL('../src/client/client.ts', import.meta.url).pathname },
    ],
  },
  test: {
    root,
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false } },
      {
        extends: true,
        test: {
          name: 'service',
          include: ['test/{service,storage,project}/**/*.test.ts'],
          globalSetup,
          env: { REUSE_DATABASES: 'true' },
          // The files of a worker share its modules, whose import took a quarter of the time. A test restores what it stubs.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/{system,faults}/**/*.test.ts'],
          globalSetup,
          // These wait for processes, timeouts and disks for more than a third of their time.
          maxWorkers: Math.min(availableParallelism() + 2, 8),
          // Vitest runs projects with other numbers of workers one after the other.
          sequence: { groupOrder: 1 },
        },
      },
    ],
    // Limits against hanging, generous because the machine may be busy with other work.
    testTimeout: 120_000,
    // Some build the project first, beside other workers.
    hookTimeout: 240_000,
    expect: { poll: { timeout: 100_000 } },
    // Much of what lasts long waits for processes of its own, and one worker more than cores keeps these busy meanwhile.
    maxWorkers: Math.min(availableParallelism() + 1, 8),
    sequence: { sequencer: LongestFirst },
    env: { NODE_ENV: 'test' },
    ...(process.env['REQUIRE_ALL'] && { reporters: ['default', new RequireAll()] }),
  },
});
