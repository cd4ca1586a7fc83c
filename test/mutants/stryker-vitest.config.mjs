import { defineConfig } from 'vitest/config';
import config from '../vitest.config.js';

// One project, because Stryker runs single tests by their names. Files are isolated: a module that two files share would
// record the coverage of the first one only.
const test = { ...config.test };
delete test.projects;

export default defineConfig({
  ...config,
  test: {
    ...test,
    include: (process.env.STRYKER_TESTS ?? 'test/unit/**/*.test.ts,test/service/**/*.test.ts').split(','),
    globalSetup: ['test/support/bundles.ts', 'test/support/postgres-setup.ts'],
    isolate: true,
  },
});
