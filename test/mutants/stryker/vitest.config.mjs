import { defineConfig } from 'vitest/config';
import config from '../../vitest.config.js';
import { warmPool } from './warm-pool.mjs';

// One project, because Stryker runs single tests by their names.
const test = { ...config.test };
delete test.projects;

/** Whether each file and each mutant gets a new thread: see `run.mjs`. */
const isolate = process.env.STRYKER_ISOLATE === 'true';

/** A plugin, because Stryker sets the pool of the configuration itself. */
const useWarmPool = {
  name: 'warm-pool',
  configureVitest(/** @type {{ project: import('vitest/node').TestProject }} */ { project }) {
    project.config.pool = warmPool.name;
    project.config.poolRunner = warmPool;
  },
};

export default defineConfig({
  ...config,
  plugins: isolate ? config.plugins : [...config.plugins, useWarmPool],
  test: {
    ...test,
    include: process.env.STRYKER_TESTS.split(' '),
    globalSetup: ['test/support/bundles.ts', 'test/support/postgres-setup.ts'],
    setupFiles: isolate ? [] : ['test/mutants/stryker/setup.mjs'],
    isolate,
    // A mutant after which a test waits for ever is detected then.
    testTimeout: 20_000,
  },
});
