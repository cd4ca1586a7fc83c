// Verifies that all servers return the same data: otherwise, their figures would not be comparable.
import { isDeepStrictEqual } from 'node:util';

/** @typedef {import('./servers.mjs').Server} Server */

/** Sends one request. Throws if the response is an error. */
export async function sendRequest(
  /** @type {string} */ url,
  /** @type {Record<string, string>} */ headers,
  /** @type {string} */ body,
  method = 'POST',
) {
  const response = await fetch(url, { method, headers, body });
  const text = await response.text();
  const result = JSON.parse(text);
  if (response.status !== 200 || result.errors) throw new Error(`${url} returns ${response.status} ${text}`);
  return { response: result, bytes: Buffer.byteLength(text) };
}

/** Compares every response with the first one, and throws if they differ in more than their times. */
export function createComparison() {
  /** @type {{ server: Server, response: unknown } | undefined} */
  let first;
  return (/** @type {Server} */ server, /** @type {unknown} */ result) => {
    first ??= { server, response: result };
    requireSame(server, result, first.response, !server.isBare && !first.server.isBare);
  };
}

/** Throws if two responses differ in more than their times. */
export function requireSame(
  /** @type {Server} */ { name },
  /** @type {unknown} */ result,
  /** @type {unknown} */ expected,
  /** @type {boolean} */ hasNulls,
) {
  const [one, other] = [result, expected].map((value) => timeless(hasNulls ? value : withoutNulls(value)));
  if (isDeepStrictEqual(one, other)) return;
  throw new Error(`${name} returns\n${JSON.stringify(one)}\nand not\n${JSON.stringify(other)}`);
}

/** Sends the same request to the REST key API behind a gateway. */
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

/** Normalizes the times that an update sets, which differ between servers. A preview returns those of its request. */
function timeless(/** @type {any} */ result) {
  // A response of REST does not contain these times.
  if (result.key_hash !== undefined) return result;
  const { data } = result;
  const { orgKey, ...update } = data.updateOrgKey ?? {};
  if (!orgKey) return data;
  const { definition } = orgKey;
  const dated = Object.entries(definition).map(([name, value]) =>
    times.includes(name) ? [name, `${typeof value} of ${String(value).length} digits`] : [name, value],
  );
  return { updateOrgKey: { ...update, definition: Object.fromEntries(dated) } };
}

/** GraphQL returns null if REST and the bare server omit a member. */
function withoutNulls(/** @type {unknown} */ value) {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}
