import type { KeyService } from '../keys/key-service.js';
import type { QuotaFigures } from '../keys/quota/quota.js';
import type { StoredKey } from '../keys/key.js';
import { viewOfStored } from '../keys/definition/view.js';
import { jsonResponse } from '../http/json-response.js';
import { definitionToWire } from '../wire/field-names.js';
import type { HTTPResponse } from '../http/response.js';

/** A key and the figures of its live quota. */
export interface ShownKey {
  readonly key: StoredKey;
  readonly figures: QuotaFigures;
}

/** The keys with their quotas, in the same order. */
export async function withQuotas(keys: KeyService, found: readonly StoredKey[]): Promise<ShownKey[]> {
  const quotas = await keys.quotasOf(found);
  return found.flatMap((key, index) => {
    const figures = quotas[index];
    return figures ? [{ key, figures }] : [];
  });
}

/** A key as a read shows it. */
export function keyMember(keys: KeyService, { key, figures: { used, remaining, renewsAt } }: ShownKey): object {
  return {
    key: keys.keyIDOf(key),
    key_hash: key.keyHash,
    version: key.version,
    state: keys.stateOf(key),
    data: definitionToWire(viewOfStored(key)),
    quota: { used, remaining: remaining ?? -1n, ...(renewsAt !== undefined && { renews_at: renewsAt }) },
  };
}

/** The response to a change of a key, with the new version as its `ETag`. */
export function changed(
  action: string,
  keyID: string,
  { keyHash, version }: StoredKey,
  more: object = {},
  headers: Record<string, string> = {},
): HTTPResponse {
  const body = { action, key: keyID, key_hash: keyHash, status: 'ok', ...more };
  return jsonResponse(body, 200, { etag: `"${version}"`, ...headers });
}
