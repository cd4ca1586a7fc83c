// The keys of the growth benchmark, determined by their number and the number of all keys.
import { createHash } from 'node:crypto';
import { diffDefinitions } from '../../build/keys/key-diff.js';
import { newKey } from '../../build/keys/create.js';

export const now = new Date('2026-01-31T12:00:00Z');
export const seconds = BigInt(now.getTime() / 1000);
const actor = { credentialID: 'bench', label: 'bench' };

export const keyIDOf = (/** @type {number} */ n) => `key-${n}`;
export const hashOf = (/** @type {number} */ n) => createHash('sha256').update(keyIDOf(n)).digest('hex');
export const isDeleted = (/** @type {number} */ n) => n % 50 === 9;
export const orgIDOf = (/** @type {number} */ n, /** @type {number} */ size) =>
  n % (size / 200) === 0 ? 'small' : n % 2 === 0 ? 'big' : `org-${n % 40}`;
export const aliasOf = (/** @type {number} */ n) => `Customer ${String(n).padStart(7, '0')}, production`;

/** A definition of about 600 bytes. For any number of keys, 200 are in `small`, and 200 others have the tag `pilot`. */
export function definitionOf(/** @type {number} */ n, /** @type {number} */ size) {
  const isPilot = n % (size / 200) === 2;
  return {
    accessRights: [
      { label: `api-${n % 50}`, apiID: `api-${n % 50}`, apiName: `API number ${n % 50}`, versions: ['Default'] },
    ],
    alias: aliasOf(n),
    applyPolicies: [`policy-${n % 10}`],
    expires: n % 50 === 7 ? seconds - 1n : seconds + 31_536_000n,
    isInactive: n % 50 === 8,
    metaData: { customer: `customer-${n}`, contact: `someone-${n}@example.test`, plan: 'gold', notes: 'x'.repeat(120) },
    per: 60,
    quotaMax: 1_000_000n,
    quotaRenewalRate: 2_592_000n,
    rate: 100,
    tags: [n % 2 === 0 ? 'production' : 'staging', `team-${n % 100}`, ...(isPilot ? ['pilot'] : [])],
  };
}

/**
 * Returns the import of a key. One key in fifty is deleted.
 * @returns {import('../../build/keys/key.js').KeyTransition}
 */
export function changeOf(/** @type {number} */ n, /** @type {number} */ size) {
  const created = newKey({
    keyHash: hashOf(n),
    identity: createHash('sha256').update(`identity ${n}`).digest('hex').slice(0, 32),
    sealedKeyID: new Uint8Array(64).fill(n % 256),
    orgID: orgIDOf(n, size),
    definition: definitionOf(n, size),
    protectedSecrets: { passwordHash: undefined, jwtSecret: undefined, hmacString: undefined },
    dates: { lastUpdated: String(seconds - BigInt((n * 7919) % 31_536_000)) },
    at: now,
    policies: new Map(),
  });
  const next = isDeleted(n) ? { ...created, deleted: now } : created;
  return { next, revision: entryOf(undefined, next, 'import') };
}

/**
 * Returns the history entry of a change.
 * @returns {import('../../build/keys/key.js').KeyRevision}
 */
export function entryOf(
  /** @type {import('../../build/keys/key.js').StoredKey | undefined} */ before,
  /** @type {import('../../build/keys/key.js').StoredKey} */ after,
  /** @type {import('../../build/keys/key.js').Operation} */ operation,
) {
  return {
    at: now,
    keyHash: after.keyHash,
    orgID: after.orgID,
    operation,
    actor,
    reason: undefined,
    requestID: '',
    versionBefore: before?.version ?? 0,
    versionAfter: after.version,
    quotaUsedBeforeReset: undefined,
    changes: diffDefinitions(before, after),
  };
}
