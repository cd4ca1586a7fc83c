import type { Issue, Path } from '../lib/errors.js';
import { unixSeconds } from '../lib/int64.js';
import type { HashType } from './definition/field-rules.js';
import type { Definition } from './definition/normalize.js';

/**
 * The live counter of a quota: traffic changes it, updates of the definition do not. With external counters, this is the
 * value at the last change of the key, and the initial value of a new counter.
 */
export interface QuotaState {
  /** Requests counted in the current period. */
  readonly used: bigint;
  /** End of the period in Unix seconds; undefined if the quota does not renew. */
  readonly renews: bigint | undefined;
}

/** The secrets of a stored key: the password is hashed, the others are sealed. */
export interface StoredSecrets {
  readonly passwordHash: string | undefined;
  readonly jwtSecret: Uint8Array | undefined;
  readonly hmacString: Uint8Array | undefined;
}

/** The identifiers of a key that was rotated. */
export interface KeyIdentifiers {
  /** The hash of its identifier. */
  readonly current: string;
  /** The identifier that it had before, until that retires. */
  readonly retiring?: RetiringIdentifier | undefined;
}

/** An identifier that a rotation has replaced, and that is still accepted. */
export interface RetiringIdentifier {
  readonly keyHash: string;
  readonly sealedKeyID: Uint8Array;
  /** The time from which on it is rejected. */
  readonly retiresAt: Date;
  /** Retire it earlier, when it is silent. */
  readonly silence?: Silence | undefined;
}

/** A rotation that runs, with the identifier that is going to retire. */
export interface RunningRotation extends Omit<RetiringIdentifier, 'sealedKeyID'> {
  /** Undefined if only its hash is known. */
  readonly keyID: string | undefined;
}

/** When an identifier retires before its time: the new one was used, and this one was not for so long. */
export interface Silence {
  readonly seconds: number;
  /** The time of the rotation, before which nothing counts. */
  readonly since: Date;
}

/** A stored key. It is looked up by the hash of an identifier; the identifier itself is sealed. */
export interface StoredKey {
  /** The hash of its first identifier. It names the key, and stays when the identifier is rotated. */
  readonly keyHash: string;
  /** 32 random hex digits. A key that is purged and added again has another identity. */
  readonly identity: string;
  /** See `openKeyID`. */
  readonly sealedKeyID: Uint8Array;
  /** Undefined if it has its first identifier, and no other. */
  readonly identifiers?: KeyIdentifiers | undefined;
  readonly orgID: string;
  /** 1 for a new key; each change adds 1. */
  readonly version: number;
  /** RFC 3339 in UTC. */
  readonly dateCreated: string;
  /** Unix seconds; strictly increasing per key, even when the clock goes back. */
  readonly lastUpdated: bigint;
  /** Time of deletion; undefined if not deleted. A deleted key can be restored until it is purged. */
  readonly deleted: Date | undefined;
  readonly definition: Definition;
  readonly secrets: StoredSecrets;
  readonly quota: QuotaState;
  /** When it was last used, in Unix milliseconds; undefined if never. Up to some seconds late. */
  readonly lastUsed?: bigint | undefined;
}

/** What a service credential can be restricted to. */
export const scopes = {
  read: 'Read, list and follow keys, and preview updates.',
  create: 'Create keys.',
  update: 'Update and revert keys, and reset their quotas.',
  delete: 'Delete and restore keys.',
  consume: 'Consume live quotas.',
  verify: 'Verify keys for a gateway, which counts against their live quotas.',
  deliver:
    'Read keys with their identifiers, password hashes and secrets, for a gateway that decides by a copy of its own. Must be named.',
  admin:
    'Administer: list, issue, rotate and revoke credentials, and change policies, of a credential that is not bound to an organization.',
  propose: 'Propose changes, which somebody else applies.',
  approve: 'Approve or reject the changes that somebody else has proposed.',
  router: 'Send GraphQL operations with as many aliases as a router merges from several. Permits nothing by itself.',
  actor: 'State whom a change is made for, in the header `X-Keyfront-Actor`. Permits nothing by itself.',
} as const;

/** One of {@link scopes}. */
export type Scope = keyof typeof scopes;

/** The verified identity behind a request: a credential, a subject of single sign-on, or the command line. */
export interface Principal {
  readonly credentialID: string;
  readonly label: string;
  /** The one organization that it is bound to; undefined for all. */
  readonly orgID: string | undefined;
  /** What it is restricted to; undefined for no restriction. */
  readonly scopes?: readonly Scope[] | undefined;
  /** The application by which a person has signed on, as the issuer of the token names it. */
  readonly client?: string | undefined;
}

/** The proposal that made a change, in the history of the key. */
export interface AppliedProposal {
  readonly id: string;
  /** Undefined if it needed no approval. */
  readonly approvedBy?: Actor | undefined;
}

/** Who made a change. */
export interface Actor extends Pick<Principal, 'credentialID' | 'label' | 'client'> {
  /** Whom the credential, or the user of the command line, states to act for. Not verified. */
  readonly assertedName?: string | undefined;
}

/** The states of a key. */
export const keyStates = {
  ACTIVE: 'The key can be used: it is not inactive, expired or deleted.',
  INACTIVE: 'The key is switched off by `isInactive`. It may also have expired.',
  EXPIRED: 'The time in `expires` of the key has passed.',
  DELETED: 'The key is deleted and can still be restored.',
} as const;

/** One of {@link keyStates}. */
export type KeyState = keyof typeof keyStates;

/** Returns the state of a key at the time `now`. */
export function stateOf({ deleted, definition }: StoredKey, now: Date): KeyState {
  if (deleted !== undefined) return 'DELETED';
  if (definition.isInactive === true) return 'INACTIVE';
  return hasExpired(definition, now) ? 'EXPIRED' : 'ACTIVE';
}

/** Whether the time in `expires` has passed. 0, a negative number and no value are no time. */
export function hasExpired({ expires = 0n }: Pick<Definition, 'expires'>, now: Date): boolean {
  return expires >= 1n && expires <= unixSeconds(now);
}

/** How a field differs. SET, CLEARED and NOT_COMPARED are for secrets only, the last one in dry runs only. */
export const changeKinds = {
  ADDED: 'The field had no value before the change.',
  CHANGED: 'The field has another value. Values of secrets are not returned.',
  REMOVED: 'The field has no value after the change.',
  SET: 'A secret was set that was not set before.',
  CLEARED: 'A secret was removed.',
  NOT_COMPARED:
    'In a dry run: a secret was sent, and the stored one may be the same. They are compared only for a credential with the scope `update`, at most ten times a minute for one key.',
} as const;

/** One of {@link changeKinds}. */
export type ChangeKind = keyof typeof changeKinds;

/** One field that differs. In paths, access rights have their label: `accessRights.invoices.limit.rate`. */
export interface FieldChange {
  readonly path: Path;
  readonly kind: ChangeKind;
  /** JSON. Absent if the field had no value, and for secrets. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/** The operations that change a key. */
export const operations = {
  import: 'The key was imported by the command line.',
  create: 'The key was created.',
  update: 'The definition was updated or the quota was reset.',
  revert: 'The definition of an earlier version was restored.',
  delete: 'The key was deleted.',
  restore: 'The deleted key was restored.',
  rotate: 'The key got another identifier.',
  cancel_rotation: 'The key got its previous identifier back.',
  retire_identifier: 'The previous identifier of the key retired.',
} as const;

/** One of {@link operations}. */
export type Operation = keyof typeof operations;

/** The history entry of a change, written in the same transaction. */
export interface KeyRevision {
  readonly at: Date;
  readonly keyHash: string;
  readonly orgID: string;
  readonly operation: Operation;
  /** For `revert`: the version whose definition was restored. Undefined in entries from before it was recorded. */
  readonly revertedTo?: number | undefined;
  readonly actor: Actor;
  /** The proposal that made the change; undefined for a direct one. */
  readonly proposal?: AppliedProposal | undefined;
  /** The caller's reason for the change. */
  readonly reason: string | undefined;
  readonly requestID: string;
  /** 0 if the key did not exist before. */
  readonly versionBefore: number;
  readonly versionAfter: number;
  /** Used quota before a reset. Undefined without a reset, or if the external counter was unreachable. */
  readonly quotaUsedBeforeReset: bigint | undefined;
  readonly changes: readonly FieldChange[];
}

/** Identifies one state of one key. */
export type KeyVersion = Pick<StoredKey, 'identity' | 'version'>;

/** Returns the key with the next version number, otherwise unchanged. `lastUpdated` increases even if the clock does not. */
export function nextKeyVersion(stored: StoredKey, now: Date): StoredKey {
  const seconds = unixSeconds(now);
  return {
    ...stored,
    version: stored.version + 1,
    lastUpdated: seconds > stored.lastUpdated ? seconds : stored.lastUpdated + 1n,
  };
}

/** The hash type of a stored password; both formats start with their name. */
export function hashTypeOfStored(passwordHash: string): HashType {
  return passwordHash.startsWith('$argon2id$') ? 'argon2id' : 'bcrypt';
}

/** Adds the hash type of the stored password to the definition: a gateway needs it to verify the password. */
export function withStoredHashType(definition: Definition, { passwordHash }: StoredSecrets): Definition {
  if (passwordHash === undefined) return { ...definition };
  return { ...definition, basicAuthData: { ...definition.basicAuthData, hashType: hashTypeOfStored(passwordHash) } };
}

/** The issue of a quota period that ends after the last int64 second. */
export const renewalOutOfRange: Issue = {
  path: ['quotaRenewalRate'],
  code: 'OUT_OF_RANGE',
  message: 'must be smaller: the quota period would end after the largest 64-bit timestamp',
};
