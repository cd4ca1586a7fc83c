import { AppError } from '../errors.js';
import { integerOf, isInt64 } from '../keys/int64.js';
import { keyStates, type KeyState } from '../keys/state.js';
import type { QuotaFigures } from '../keys/quota.js';
import { defaultOrder, type KeyFilter, type StoredKey } from '../keys/store.js';
import { viewOfStored } from '../keys/view.js';
import { nearest } from '../nearest.js';
import { readDefinition } from '../keys/definition-input.js';
import { inWireNames, readJSONBody, warningsMember } from './body.js';
import { jsonList, jsonResponse } from './errors.js';
import { cursorOf, listLimitBytes, membersWithin, positionOf } from './key-list.js';
import { malformed, queryParametersOf } from '../query-parameters.js';
import { expectedVersionsFrom, keyIDFrom, noParameters } from './parameters.js';
import type { Call } from './routes.js';
import { definitionFromWire, definitionToWire } from './wire.js';

const largestPage = 100;

/** `GET /svc/org/keys`: a page of keys, with the cursor of the next page when there is one. */
export async function listOrgKeys({ caller, keys, query }: Call): Promise<Response> {
  const { filter, limit, after } = pageFrom(query);
  const orderBy = defaultOrder(filter);
  const page = await keys.orgKeys(caller, {
    filter,
    orderBy,
    descending: false,
    limit: limit + 1,
    maxBytes: listLimitBytes,
    ...(after !== undefined && { after: positionOf(after, orderBy) }),
  });
  const found = page.keys.slice(0, limit);
  const members = await membersWithin(await withQuotas(keys, found), (shown) => keyMember(keys, shown));
  const last = found[members.length - 1];
  const hasMore = page.isCut || members.length < page.keys.length;
  return jsonList('keys', members, hasMore && last ? { next: cursorOf(last, orderBy) } : {});
}

/**
 * `GET /svc/org/keys/{keyID}`: the definition without its secrets. The `ETag` is the key's version, for `If-Match`. There
 * is no 304: the state and the live quota change while the version stays.
 */
export async function getOrgKey({ caller, keys, wildcard, query }: Call): Promise<Response> {
  noParameters(query);
  const key = await keys.existingOrgKey(caller, keyIDFrom(wildcard));
  const [shown] = await withQuotas(keys, [key]);
  if (!shown) throw new AppError('INTERNAL', 'The key has no quota figures.');
  return jsonResponse(keyMember(keys, shown), 200, { etag: `"${key.version}"` });
}

/** `POST /svc/org/keys/{keyID}`: creates a key that does not exist. */
export async function createOrgKey({ request, caller, keys, wildcard, query }: Call): Promise<Response> {
  noParameters(query);
  const keyID = keyIDFrom(wildcard);
  const body = await readJSONBody(request);
  return inWireNames(body, async () => {
    const input = readDefinition('update', definitionFromWire(body));
    const { key, warnings } = await keys.createOrgKey(caller, { keyID, input });
    return changed('added', keyID, key, warningsMember(warnings, body));
  });
}

/** `DELETE /svc/org/keys/{keyID}`: deletes a key, which can be restored for a while. */
export async function deleteOrgKey({ request, caller, keys, wildcard, query }: Call): Promise<Response> {
  noParameters(query);
  const keyID = keyIDFrom(wildcard);
  const expectedVersion = expectedVersionsFrom(request.headers.get('if-match'));
  const { key } = await inWireNames(null, () => keys.deleteOrgKey(caller, keyID, { expectedVersion }));
  return changed('deleted', keyID, key);
}

/** `POST /svc/org/keys/{keyID}/restore`: puts a deleted key back. */
export async function restoreOrgKey({ request, caller, keys, wildcard, query }: Call): Promise<Response> {
  noParameters(query);
  const keyID = keyIDFrom(wildcard);
  const expectedVersion = expectedVersionsFrom(request.headers.get('if-match'));
  const { key } = await inWireNames(null, () => keys.restoreOrgKey(caller, keyID, { expectedVersion }));
  return changed('restored', keyID, key);
}

/** `POST /svc/org/keys/{keyID}/quota`: takes requests from the live quota, `{"amount": n}` of them or one. */
export async function consumeOrgQuota({ request, caller, keys, wildcard, query }: Call): Promise<Response> {
  noParameters(query);
  const keyID = keyIDFrom(wildcard);
  const amount = await amountFrom(request);
  const { allowed, refusal, figures } = await keys.consumeOrgQuota(caller, keyID, amount);
  return jsonResponse({
    allowed,
    ...(refusal && { refusal }),
    used: figures.used,
    remaining: figures.remaining ?? -1n,
    quota_max: figures.max ?? -1n,
    ...(figures.renewsAt !== undefined && { renews_at: figures.renewsAt }),
  });
}

async function amountFrom(request: Request): Promise<bigint> {
  if (request.headers.get('content-type') === null) return 1n;
  const body = await readJSONBody(request);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new AppError('INVALID', 'The body must be an object.');
  const unknown = Object.keys(body).find((name) => name !== 'amount');
  if (unknown !== undefined) throw malformed(unknown, 'is not a member here; `amount` is the only one');
  const amount = integerOf(body['amount'] ?? 1n);
  if (amount === undefined) throw malformed('amount', 'must be an integer');
  return amount;
}

function changed(action: string, keyID: string, { keyHash, version }: StoredKey, more: object = {}): Response {
  return jsonResponse({ action, key: keyID, key_hash: keyHash, status: 'ok', ...more }, 200, { etag: `"${version}"` });
}

interface ShownKey {
  readonly key: StoredKey;
  readonly figures: QuotaFigures;
}

async function withQuotas(keys: Call['keys'], found: readonly StoredKey[]): Promise<ShownKey[]> {
  const quotas = await keys.quotasOf(found);
  return found.flatMap((key, index) => {
    const figures = quotas[index];
    return figures ? [{ key, figures }] : [];
  });
}

function keyMember(keys: Call['keys'], { key, figures: { used, remaining, renewsAt } }: ShownKey): object {
  return {
    key: keys.keyIDOf(key),
    key_hash: key.keyHash,
    version: key.version,
    state: keys.stateOf(key),
    data: definitionToWire(viewOfStored(key)),
    quota: { used, remaining: remaining ?? -1n, ...(renewsAt !== undefined && { renews_at: renewsAt }) },
  };
}

type Read = (text: string, name: string) => Partial<KeyFilter>;

const seconds = (text: string, name: string): bigint => {
  if (!/^-?\d{1,19}$/.test(text) || !isInt64(BigInt(text))) throw malformed(name, 'must be Unix seconds');
  return BigInt(text);
};

const filters: Readonly<Record<string, Read>> = {
  org_id: (orgID) => ({ orgID }),
  alias_prefix: (aliasPrefix) => ({ aliasPrefix }),
  tag: (tag) => ({ tag }),
  policy: (policy) => ({ policy }),
  api_id: (apiID) => ({ apiID }),
  state: (text, name) => {
    const state = Object.keys(keyStates).find((known): known is KeyState => known === text);
    if (state === undefined) throw malformed(name, `must be one of ${Object.keys(keyStates).join(', ')}`);
    return { state };
  },
  expires_before: (text, name) => ({ expiresBefore: seconds(text, name) }),
  updated_since: (text, name) => ({ updatedSince: seconds(text, name) }),
};

/** The page that a query string asks for. Throws INVALID for a parameter that is unknown, repeated or malformed. */
function pageFrom(query: string): { filter: KeyFilter; limit: number; after: string | undefined } {
  let limit = 20;
  let after: string | undefined;
  const filter: Partial<KeyFilter> = {};
  for (const [name, text] of queryParametersOf(query)) {
    const read = Object.hasOwn(filters, name) ? filters[name] : undefined;
    if (read) Object.assign(filter, read(text, name));
    else if (name === 'after') after = text;
    else if (name === 'limit') {
      limit = Number(text);
      if (!/^\d{1,3}$/.test(text) || limit < 1 || limit > largestPage)
        throw malformed(name, `must be from 1 to ${largestPage}`);
    } else {
      const meant = nearest(name, [...Object.keys(filters), 'after', 'limit']);
      throw malformed(name, `is not a parameter here${meant ? `; did you mean \`${meant}\`?` : ''}`);
    }
  }
  return { filter, limit, after };
}
