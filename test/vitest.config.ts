import { availableParallelism } from 'node:os';
import { build } from 'esbuild';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './support/longest-first.js';

const root = new URL('..', import.meta.url).pathname;

/** Worker threads run no TypeScript: theirs is bundled from the sources under test. */
const bundledWorkers = {
  name: 'bundled-workers',
  async transform(code: string, id: string) {
    if (!id.endsWith('/sqlite/query-runner.ts')) return undefined;
    const outfile = `${root}node_modules/.cache/keyfront-tests/read-worker-${process.pid}.mjs`;
    await build({
      entryPoints: [`${root}src/storage/sqlite/read-worker.ts`],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'warning',
    });
    return code.replaceAll('./read-worker.js', outfile);
  },
};

/** Suites that start processes, browsers and gateways, or that generate for long: `npm run test:system`. */
const system = [
  'test/{browser,e2e,faults,federation,hostile,life,parity}/**/*.test.ts',
  'test/{package,supply-chain,telemetry/process,cli/migrate-store}.test.ts',
];

export default defineConfig({
  plugins: [bundledWorkers],
  // Node takes the CommonJS build of graphql, and so does Pothos. Left alone, Vite would give our files the other build,
  // and graphql refuses types that were made by another copy of itself.
  resolve: {
    alias: [
      { find: /^graphql$/, replacement: 'graphql/index.js' },
      // What the package exports, without a build before the tests.
      { find: /^keyfront\/client$/, replacement: new URL('../src/client/client.ts', import.meta.url).pathname },
    ],
  },
  test: {
    root,
    projects: [
      { extends: true, test: { name: 'default', include: ['test/**/*.test.ts'], exclude: system } },
      { extends: true, test: { name: 'system', include: system } },
    ],
    globalSetup: ['test/support/postgres-setup.ts'],
    // Limits against hanging, generous because the machine may be busy with other work.
    testTimeout: 120_000,
    // Some build the project first, beside other workers.
    hookTimeout: 240_000,
    expect: { poll: { timeout: 100_000 } },
    // Much of what lasts long waits for processes of its own, and one worker more than cores keeps these busy meanwhile.
    maxWorkers: Math.min(availableParallelism() + 1, 8),
    sequence: { sequencer: LongestFirst },
    env: { NODE_ENV: 'test' },
  },
});
