import { asError, errorCodeOf } from '../lib/errors.js';
import { stringifyJSON } from '../lib/json.js';
import { isForeign, requireScope, visibleKey } from './authorization.js';
import { withAudit } from './change.js';
import { withSecrets } from './definition/normalize.js';
import type { KeyDefinition } from './definition/schema.js';
import { findNamed, type KeyName } from './find-key.js';
import { identifierHashOf, rotationOf } from './identifiers.js';
import { stateOf, withStoredHashType, type KeyState, type RunningRotation, type StoredKey } from './key.js';
import { entriesOf, positionOfEntry } from './key-query.js';
import type { CallContext, Ports } from './ports.js';
import { aadFor, openKeyID } from './protect-secrets.js';
import type { KeyReference } from './queries/read-keys.js';

/** The maximum number of keys that one page delivers. */
export const maxDelivered = 100;

/** The maximum size of the definitions of a page with their secrets, in bytes; one key may be larger. */
const maxPageBytes = 1024 * 1024;

/** A key with everything that a gateway needs to decide without Keyfront. */
export interface DeliveredKey extends Pick<StoredKey, 'keyHash' | 'orgID' | 'version'> {
  /** Undefined if only its hash is known. */
  readonly keyID: string | undefined;
  readonly identifierHash: string;
  /** Undefined if it has one identifier. */
  readonly rotation: RunningRotation | undefined;
  readonly state: KeyState;
  /** With the hash of the password in place of the password, the other secrets in clear, and the fields that the service sets. */
  readonly definition: KeyDefinition;
}

/** A key of a page; an error if it cannot be read, or one of its secrets cannot be opened. */
export interface DeliveredItem {
  readonly keyHash: string;
  readonly key: DeliveredKey | Error;
}

/** A page of keys, in the order of their hashes. */
export interface DeliveredPage {
  readonly items: readonly DeliveredItem[];
  /** Whether there are keys after the last item. */
  readonly hasMore: boolean;
}

/** Selects a page of keys that are not deleted. */
export interface DeliverPageRequest {
  /** Default: all organizations that the caller can see. */
  readonly orgID?: string | undefined;
  /** Keys after this hash. */
  readonly afterHash?: string | undefined;
  /** From 1 to `maxDelivered`. */
  readonly limit: number;
}

/**
 * The reads of what no other reader gets: identifiers with the hash of the password and the secrets in clear. Each needs the
 * scope `deliver`, and is in the audit log with the range of its keys.
 *
 * @param nameOf - throws INVALID for a malformed reference
 */
export function createKeyDelivery(ports: Ports, nameOf: (reference: KeyReference) => KeyName) {
  const { store, now, nextSlice, open, audit, reportError } = ports;

  /** @throws {AppError} INTERNAL when a secret cannot be opened. */
  function deliver(key: StoredKey): DeliveredKey {
    const { keyHash, orgID, version, secrets, dateCreated, lastUpdated } = key;
    const opened = (sealed: Uint8Array | undefined, name: 'jwtSecret' | 'hmacString') =>
      sealed === undefined ? null : open(sealed, aadFor(keyHash, name));
    const definition = withSecrets(withStoredHashType(key.definition, secrets), {
      password: secrets.passwordHash ?? null,
      jwtSecret: opened(secrets.jwtSecret, 'jwtSecret'),
      hmacString: opened(secrets.hmacString, 'hmacString'),
    });
    return {
      keyHash,
      orgID,
      version,
      keyID: openKeyID(ports, keyHash, key.sealedKeyID),
      identifierHash: identifierHashOf(key),
      rotation: openRotation(ports, key),
      state: stateOf(key, now()),
      definition: { ...definition, orgID, dateCreated, lastUpdated: String(lastUpdated) },
    };
  }

  /** Returns the error of an item, which is logged: the response shows only that there is one. */
  function failed(error: unknown, requestID: string): Error {
    // A deadline or an unreachable database fails the page.
    if (errorCodeOf(error) !== 'INTERNAL') throw error;
    reportError?.(error, requestID);
    return asError(error);
  }

  function deliverOrFail(key: StoredKey, requestID: string): DeliveredKey | Error {
    try {
      return deliver(key);
    } catch (error) {
      return failed(error, requestID);
    }
  }

  async function readPage(
    caller: CallContext,
    { orgID = caller.orgID, afterHash, limit }: DeliverPageRequest,
  ): Promise<DeliveredPage> {
    if (isForeign(caller, orgID)) return { items: [], hasMore: false };
    const query = {
      filter: { orgID },
      orderBy: 'KEY_HASH',
      descending: false,
      limit: limit + 1,
      now: now(),
      maxBytes: maxPageBytes,
      ...(afterHash !== undefined && { after: { value: '', keyHash: afterHash } }),
    } as const;
    const page = await store.list(query, caller.reads);
    const entries = entriesOf(page);
    const items: DeliveredItem[] = [];
    let bytes = 0;
    for (const entry of entries.slice(0, limit)) {
      await nextSlice();
      const key = 'key' in entry ? deliverOrFail(entry.key, caller.requestID) : failed(entry.error, caller.requestID);
      bytes += key instanceof Error ? 0 : Buffer.byteLength(stringifyJSON(key.definition));
      if (bytes > maxPageBytes && items.length > 0) break;
      items.push({ keyHash: positionOfEntry(entry, 'KEY_HASH').keyHash, key });
    }
    return { items, hasMore: page.isCut || items.length < entries.length };
  }

  return {
    /**
     * Returns the key that a hash or an identifier names; undefined if there is none, it is deleted, or another organization
     * owns it.
     *
     * @throws {AppError} INVALID when it is malformed; FORBIDDEN without the scope `deliver`; INTERNAL when a secret cannot be
     * opened.
     */
    deliverKey: withAudit(audit, {
      event: 'delivery',
      operation: 'deliverKey',
      identify: (reference: KeyReference) => nameOf(reference).hash,
      run: async (caller, _, reference) => {
        requireScope(caller, 'deliver');
        const key = visibleKey(caller, await findNamed(ports, nameOf(reference), caller.orgID));
        return key === undefined || key.deleted !== undefined ? undefined : deliver(key);
      },
      acceptedOf: (key) => ({
        ...(key && { keyHash: key.keyHash, orgID: key.orgID, version: key.version }),
        delivered: { keys: key ? 1 : 0 },
      }),
    }),
    /**
     * Returns a page of keys. One that cannot be read, or whose secret cannot be opened, is an error in its place. A page can
     * have fewer keys than its limit and more after them.
     *
     * @throws {AppError} FORBIDDEN without the scope `deliver`.
     */
    deliverKeys: withAudit(audit, {
      event: 'delivery',
      operation: 'deliverKeys',
      identify: (_: DeliverPageRequest) => undefined,
      run: async (caller, _, request) => {
        requireScope(caller, 'deliver');
        return { orgID: request.orgID ?? caller.orgID, ...(await readPage(caller, request)) };
      },
      acceptedOf: ({ orgID, items }) => ({
        orgID,
        delivered: {
          keys: items.filter(({ key }) => !(key instanceof Error)).length,
          unreadable: items.filter(({ key }) => key instanceof Error).length,
          first: items.at(0)?.keyHash,
          last: items.at(-1)?.keyHash,
        },
      }),
    }),
  };
}

/** Returns the rotation of a key that runs now, with the identifier that is going to retire. */
export function openRotation(ports: Pick<Ports, 'now' | 'open'>, key: StoredKey): RunningRotation | undefined {
  const retiring = rotationOf(key, ports.now());
  if (!retiring) return undefined;
  const { keyHash, sealedKeyID, retiresAt, silence } = retiring;
  return { keyHash, retiresAt, silence, keyID: openKeyID(ports, key.keyHash, sealedKeyID) };
}
