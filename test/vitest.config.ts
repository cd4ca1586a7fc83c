import { defineConfig } from 'vitest/config';

export default defineConfig({
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
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres-setup.ts'],
    testTimeout: 30_000,
    env: { NODE_ENV: 'test' },
  },
});
