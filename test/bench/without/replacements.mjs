/** The modules of the service that are replaced to measure what each feature costs. */
/** @type {Record<string, readonly { module: string, by: string }[]>} */
export const replacements = {
  credentials: [{ module: 'auth/authenticator.js', by: './authenticator.mjs' }],
  deadline: [{ module: 'graphql/deadline.js', by: './deadline.mjs' }],
  'exact JSON': [{ module: 'lib/json.js', by: './json.mjs' }],
  'guards of HTTP': [
    { module: 'http/plain-request.js', by: './plain-request.mjs' },
    { module: 'http/unread-body.js', by: './unread-body.mjs' },
    { module: 'http/admission.js', by: './admission.mjs' },
  ],
  'fast path': [{ module: 'graphql/fast-path.js', by: './fast-path.mjs' }],
  'fast validation': [{ module: 'keys/fast-validator.js', by: './fast-validator.mjs' }],
};
