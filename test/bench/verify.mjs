// Whether all servers answer the same: figures of servers that do different things cannot be compared.
import { isDeepStrictEqual } from 'node:util';

/** @typedef {import('./servers.mjs').Server} Server */

/** Asks once. Throws where the response is an error. */
export async function sendRequest(
  /** @type {string} */ url,
  /** @type {Record<string, string>} */ headers,
  /** @type {string} */ body,
  method = 'POST',
) {
  const response = await fetch(url, { method, headers, body });
  const text = await response.text();
  const result = JSON.parse(text);
  if (response.status !== 200 || result.errors) throw new Error(`${url} answers ${response.status} ${text}`);
  return { response: result, bytes: Buffer.byteLength(text) };
}

/** Holds every response against the first one, and throws where it differs in more than the time it was given at. */
export function createComparison() {
  /** @type {{ server: Server, answer: unknown } | undefined} */
  let first;
  return (/** @type {Server} */ server, /** @type {unknown} */ result) => {
    first ??= { server, response: result };
    requireSame(server, result, first.response, !server.isBare && !first.server.isBare);
  };
}

/** Throws where two answers differ in more than the time they were given at. */
export function requireSame(
  /** @type {Server} */ { name },
  /** @type {unknown} */ result,
  /** @type {unknown} */ expected,
  /** @type {boolean} */ hasNulls,
) {
  const [one, other] = [result, expected].map((value) => timeless(hasNulls ? value : withoutNulls(value)));
  if (isDeepStrictEqual(one, other)) return;
  throw new Error(`${name} answers\n${JSON.stringify(one)}\nand not\n${JSON.stringify(other)}`);
}

/** What the REST key API behind a gateway answers to the same request. */
export async function requestREST(
  /** @type {string} */ origin,
  /** @type {Record<string, string>} */ headers,
  /** @type {string} */ body,
) {
  const { keyID, input } = JSON.parse(body).variables;
  const text = JSON.stringify(input);
  const { response: result } =
    keyID === undefined
      ? await sendRequest(`${origin}/api/keys/preview`, headers, text)
      : await sendRequest(`${origin}/svc/org/keys/${keyID}?reset_quota=1`, headers, text, 'PUT');
  return { data: { [keyID === undefined ? 'previewKey' : 'updateOrgKey']: result } };
}

const times = ['lastUpdated', 'quotaRenews'];

/** The times that an update sets are as many seconds, but not the same ones. A preview's stay as they were sent. */
function timeless(/** @type {any} */ result) {
  // A response of REST has no such times.
  if (result.key_hash !== undefined) return result;
  const { data } = result;
  const { definition, ...update } = data.updateOrgKey ?? {};
  if (!definition) return data;
  const dated = Object.entries(definition).map(([name, value]) =>
    times.includes(name) ? [name, `${typeof value} of ${String(value).length} digits`] : [name, value],
  );
  return { updateOrgKey: { ...update, definition: Object.fromEntries(dated) } };
}

/** GraphQL answers null where REST and the bare server leave a member out. */
function withoutNulls(/** @type {unknown} */ value) {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}
