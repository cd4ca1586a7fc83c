import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Node takes the CommonJS build of graphql, and so does Pothos. Left alone, Vite would give our files the other build,
  // and graphql refuses types that were made by another copy of itself.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres-setup.ts'],
    testTimeout: 30_000,
    env: { NODE_ENV: 'test' },
  },
});
