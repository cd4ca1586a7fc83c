import type { KeyChange } from '../keys/change.js';
import type { DeliveredKey } from '../keys/deliver.js';
import type { KeyService } from '../keys/key-service.js';
import type { QuotaFigures } from '../keys/quota/quota.js';
import type { StoredKey } from '../keys/key.js';
import { viewOfStored } from '../keys/definition/view.js';
import { jsonResponse, type HTTPResponse } from '../http/response.js';
import { lastUseOf } from '../keys/queries/read-use.js';
import { definitionToWire } from '../wire/field-names.js';
import { warningsMember } from './json-body.js';
import type { RouteCall } from './route.js';

/** A key and its live quota. */
export interface KeyWithQuota {
  readonly key: StoredKey;
  readonly figures: QuotaFigures;
}

/** Adds the live quota of each key. Keeps the order. */
export async function withQuotas(keys: KeyService, storedKeys: readonly StoredKey[]): Promise<KeyWithQuota[]> {
  const quotas = await keys.quotasOf(storedKeys);
  return storedKeys.flatMap((key, index) => {
    const figures = quotas[index];
    return figures ? [{ key, figures }] : [];
  });
}

/** The key as an object of the REST API. */
export function keyToJSON(keys: KeyService, { key, figures: { used, remaining, renewsAt } }: KeyWithQuota): object {
  return {
    key: keys.keyIDOf(key) ?? null,
    key_hash: key.keyHash,
    version: key.version,
    state: keys.stateOf(key),
    data: definitionToWire(viewOfStored(key)),
    quota: { used, remaining: remaining ?? -1n, ...(renewsAt !== undefined && { renews_at: renewsAt }) },
    ...(key.lastUsed !== undefined && { last_used_at: lastUseOf(key) }),
    ...identifiersToJSON(keys, key),
  };
}

/** The members about the identifiers of a rotated key; none of another key. */
export function identifiersToJSON(keys: KeyService, key: StoredKey): object {
  const [identifierHash, rotation] = [keys.identifierHashOf(key), keys.rotationOf(key)];
  return identifierMembers({ keyHash: key.keyHash, identifierHash, rotation });
}

/** As `identifiersToJSON`, of identifiers that were read before. */
export function identifierMembers({
  keyHash,
  identifierHash,
  rotation,
}: Pick<DeliveredKey, 'keyHash' | 'identifierHash' | 'rotation'>): object {
  return {
    ...(identifierHash !== keyHash && { identifier_hash: identifierHash }),
    ...(rotation && {
      rotation: {
        old_key: rotation.keyID,
        old_identifier_hash: rotation.keyHash,
        retires_at: rotation.retiresAt.toISOString(),
        ...(rotation.silence && { silence: rotation.silence.seconds }),
      },
    }),
  };
}

/** The response to a change of a key, with the new version as its `ETag`. */
export function changeResponse(
  action: string,
  keyID: string | undefined,
  { keyHash, version }: StoredKey,
  more: object = {},
  headers: Record<string, string> = {},
): HTTPResponse {
  const body = { action, key: keyID ?? null, key_hash: keyHash, status: 'ok', ...more };
  return jsonResponse(body, 200, { etag: `"${version}"`, ...headers });
}

/** The response to a change of a definition. The contract defines the members of its body: the status of a reset is a header. */
export function definitionResponse(
  call: Pick<RouteCall, 'sentDefinition'>,
  keyID: string,
  { key, warnings, quotaReset }: KeyChange,
): HTTPResponse {
  const reset = quotaReset && { 'quota-reset': quotaReset.toLowerCase() };
  return changeResponse('modified', keyID, key, warningsMember(call, warnings), reset);
}
