/** The modules of the service that are replaced to measure what each feature costs. */
/** @type {Record<string, readonly { module: string, by: string }[]>} */
export const replacements = {
  credentials: [{ module: 'credentials/authenticate.js', by: './authenticator.mjs' }],
  deadline: [{ module: 'graphql/execution/deadline.js', by: './deadline.mjs' }],
  'exact JSON': [{ module: 'lib/json.js', by: './json.mjs' }],
  'guards of HTTP': [
    { module: 'http/server/request-guard.js', by: './request-guard.mjs' },
    { module: 'http/server/lingering-close.js', by: './lingering-close.mjs' },
    { module: 'lib/scheduler.js', by: './scheduler.mjs' },
  ],
  'fast path': [{ module: 'graphql/execution/fast-path.js', by: './fast-path.mjs' }],
  'fast validation': [{ module: 'keys/definition/fast-validator.js', by: './fast-validator.mjs' }],
};
