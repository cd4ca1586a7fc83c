import { defineConfig } from 'vitest/config';
import config from '../../vitest.config.js';

// One project, because Stryker runs single tests by their names.
const test = { ...config.test };
delete test.projects;

export default defineConfig({
  ...config,
  test: {
    ...test,
    include: process.env.STRYKER_TESTS.split(' '),
    globalSetup: ['test/support/bundles.ts', 'test/support/postgres-setup.ts'],
    // The files of a run share its modules, whose import takes longer than most of the tests.
    isolate: false,
    // A mutant after which a test waits for ever is detected then.
    testTimeout: 20_000,
  },
});
