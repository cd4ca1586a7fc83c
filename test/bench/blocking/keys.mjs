// The two populations of the harness: a million small keys, and a thousand keys with 200 KB of metaData each.
import { createHash } from 'node:crypto';
import { openServices } from '../../../build/storage/open-storage.js';
import { readConfig } from '../../../build/config/config.js';
import { issueCredential } from '../../../build/credentials/issue.js';
import { newKey } from '../../../build/keys/create.js';
import { scopes as allScopes } from '../../../build/keys/key.js';
import { diffDefinitions } from '../../../build/keys/key-diff.js';
import { aadFor } from '../../../build/keys/protect-secrets.js';
import { createKeyService } from '../../../build/keys/key-service.js';
import { cursorsOf } from '../../../build/wire/list-cursor.js';

/** @typedef {'small' | 'large'} Kind */

const now = new Date();
const seconds = BigInt(Math.floor(now.getTime() / 1000));
const actor = { credentialID: 'bench', label: 'bench' };
const caller = { ...actor, orgID: undefined, requestID: '' };
/** Numbers of the keys with a long history, all of the organization `big`. */
export const keysWithHistory = [0, 2, 4];
const historyEntries = 100;

/** Also those that a credential has only if they are named. With `router`, other limits would apply. */
const ownScopes = Object.keys(allScopes).filter((scope) => scope !== 'router');

export const keyIDOf = (/** @type {number} */ n) => `bench-key-${n}`;
export const hashOf = (/** @type {number} */ n) => createHash('sha256').update(keyIDOf(n)).digest('hex');
/** The cursor of a key in the list of all keys. */
export const cursorOf = (/** @type {number} */ n) =>
  cursorsOf({ filter: {}, orderBy: 'KEY_HASH' }).encode({ value: '', keyHash: hashOf(n) });
/** Half of all keys belong to one organization, the others to 100. */
export const orgIDOf = (/** @type {number} */ n) => (n % 2 === 0 ? 'big' : `org-${((n - 1) / 2) % 100}`);

/** Returns about 200 KB of JSON with 10,000 members, the maximum of a definition. */
export function largeMetaData(/** @type {number} */ seed) {
  return Object.fromEntries(Array.from({ length: 9_999 }, (_, index) => [`m${index}`, `value ${seed} of it`]));
}

/** Returns a definition that nearly every filter matches, which is the most expensive case of counts and pages. */
function definitionOf(/** @type {number} */ n, /** @type {Kind} */ kind) {
  return {
    accessRights: [{ label: 'invoices', apiID: 'invoices' }],
    alias: `Customer ${String(n).padStart(7, '0')}`,
    applyPolicies: ['gold'],
    expires: seconds + 31_536_000n,
    quotaMax: 1_000_000n,
    quotaRenewalRate: 2_592_000n,
    tags: ['production'],
    ...(kind === 'large' && { metaData: largeMetaData(n) }),
  };
}

/**
 * Fills the installation of `env`, unless it has keys, and issues credentials.
 *
 * @param {Record<string, string>} env
 * @param {number} count
 * @param {Kind} kind
 */
export async function prepare(env, count, kind) {
  const { config, secrets } = readConfig(env);
  const installation = await openServices(config, secrets, {}, { access: 'create' });
  try {
    if (await installation.isNew()) await fill(installation, count, kind);
    const issue = async (
      /** @type {'management' | 'service'} */ of,
      /** @type {string | undefined} */ orgID,
      /** @type {readonly string[] | undefined} */ scopes,
    ) => {
      const order = { kind: of, label: 'bench', orgID, scopes, expires: undefined };
      return (await issueCredential(installation.credentials, order, new Date())).secret;
    };
    return {
      management: await issue('management', undefined),
      service: await issue('service', undefined, ownScopes),
      bound: await issue('service', 'big', ownScopes),
      router: await issue('service', undefined, ['read', 'router']),
    };
  } finally {
    await installation.close();
  }
}

async function fill(installation, /** @type {number} */ count, /** @type {Kind} */ kind) {
  const { ports, store } = installation;
  const batch = kind === 'large' ? 20 : 2_000;
  for (let from = 0; from < count; from += batch) {
    const length = Math.min(batch, count - from);
    await store.add(Array.from({ length }, (_, index) => changeOf(ports, from + index, kind)));
  }
  const keys = createKeyService(ports);
  for (const n of keysWithHistory.filter((key) => key < count)) {
    for (let entry = 1; entry < historyEntries; entry += 1) {
      const input = { ...definitionOf(n, kind), ...(kind === 'large' && { metaData: largeMetaData(n + entry) }) };
      await keys.updateOrgKey(caller, {
        keyID: keyIDOf(n),
        input: { ...input, rate: entry, per: 60 },
        resetQuota: false,
      });
    }
  }
}

function changeOf(ports, /** @type {number} */ n, /** @type {Kind} */ kind) {
  const keyHash = hashOf(n);
  const next = newKey({
    keyHash,
    identity: ports.newIdentity(),
    sealedKeyID: ports.seal(keyIDOf(n), aadFor(keyHash, 'keyID')),
    orgID: orgIDOf(n),
    definition: definitionOf(n, kind),
    protectedSecrets: { passwordHash: undefined, jwtSecret: undefined, hmacString: undefined },
    dates: { lastUpdated: String(seconds - BigInt((n * 7919) % 31_536_000)) },
    at: now,
    policies: new Map(),
  });
  const revision = {
    at: now,
    keyHash,
    orgID: next.orgID,
    operation: 'import',
    actor,
    reason: undefined,
    requestID: '',
    versionBefore: 0,
    versionAfter: 1,
    quotaUsedBeforeReset: undefined,
    changes: diffDefinitions(undefined, next),
  };
  return { next, revision };
}
