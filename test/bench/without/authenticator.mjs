import { createAuthenticator as create } from '../../../build/credentials/authenticate.js';

export * from '../../../build/credentials/authenticate.js';

/** Verifies the credentials of the first request only; all others get its principals. @type {typeof create} */
export function createAuthenticator(deps) {
  const authenticator = create(deps);
  /** @type {ReturnType<typeof authenticator.authenticate> | undefined} */
  let first;
  return { ...authenticator, authenticate: (request) => (first ??= authenticator.authenticate(request)) };
}
