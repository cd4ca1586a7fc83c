/**
 * Operations of clients of a gateway. The gateway sends what concerns Keyfront as one operation, which is above one of our
 * limits for clients. Each changes or reads the keys `k0` to `k99` of acme.
 */
export function mergedOperations() {
  const keys = (count: number, select: string) =>
    Array.from({ length: count }, (_, index) => `a${index}: orgKey(by: { keyID: "k${index}" }) { ${select} }`).join(
      ' ',
    );
  const fields = ['keyID', 'orgID', 'version', 'state', 'deletedAt', 'updatedAt', 'createdAt', 'keyHash'];
  return {
    aliases: `{ ${keys(40, 'version')} }`,
    directives: `query ($yes: Boolean! = true) { ${keys(1, fields.map((field) => `${field} @include(if: $yes)`).join(' '))} }`,
    tokens: `{ ${keys(90, 'version')} }`,
    cost: `{ users { edges { node { orgKey { history(first: 100) { edges { node { version operation at reason requestID } } } } } } } }`,
    mutations: `mutation { ${Array.from({ length: 8 }, (_, index) => `a${index}: updateOrgKey(keyID: "k${index}", input: { alias: "Merged" }) { version }`).join(' ')} }`,
  };
}

/** An operation that is deeper than our limit in the graph of the company, and not in the part that Keyfront gets. */
export const deepOperation = `{ users { edges { node { organization { orgKeys(first: 1) { edges { node {
  history(first: 1) { edges { node { changes { path } } } } } } } } } } } }`;
