// `npm run test:stryker -- --mutate 'src/keys/quota/*.ts'`: mutation testing with the unit and service tests. A mutant
// takes some 5 seconds on one busy core, so that all of `src/keys` takes hours.
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  // `related` would miss tests that reach a file through the whole service.
  vitest: { configFile: 'test/mutants/stryker-vitest.config.mjs', related: false },
  coverageAnalysis: 'perTest',
  mutate: ['src/keys/**/*.ts', 'src/graphql/executor/**/*.ts', 'src/storage/sql/**/*.ts', 'src/lib/json*.ts'],
  ignorePatterns: ['dist', 'build', 'data'],
  reporters: ['clear-text', 'json'],
  thresholds: { high: 95, low: 90, break: 90 },
  concurrency: 1,
  tempDirName: 'node_modules/.cache/stryker',
  jsonReporter: { fileName: 'node_modules/.cache/stryker-report.json' },
};
