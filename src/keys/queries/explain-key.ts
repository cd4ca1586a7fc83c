import { AppError } from '../../lib/errors.js';
import { decideAccess, type AccessDecision, type AccessRequest, type DecidedKey } from '../access/decide-access.js';
import { requireScope, visibleKey } from '../authorization.js';
import { findNamed, type KeyName } from '../find-key.js';
import type { KeyRevision, StoredKey, StoredSecrets } from '../key.js';
import { isSecretChange } from '../key-diff.js';
import type { CallContext, Ports } from '../ports.js';
import { withLiveQuotas } from '../quota/external-counters.js';

/** A decision, and what it was made with. */
export interface Explanation {
  readonly decision: AccessDecision;
  /** The time of the decision. */
  readonly at: Date;
  /** The version of the key; undefined if there is none. */
  readonly version: number | undefined;
}

/** What to explain. */
export interface ExplainRequest extends Omit<AccessRequest, 'amount'> {
  /** Default: now. */
  readonly at?: Date | undefined;
}

/**
 * Decides about a request with a key and changes nothing. For a past time, the key and the policies are those of that time;
 * the live quota of a past time is not known, so that it is left out of the decision.
 *
 * @throws {AppError} FORBIDDEN without the scope `read`; UNAVAILABLE when the counter is unreachable.
 */
export async function explainOrgKey(
  ports: Ports,
  caller: CallContext,
  name: KeyName,
  { at: requested, ...request }: ExplainRequest,
): Promise<Explanation> {
  requireScope(caller, 'read');
  const { policies, externalCounters } = ports;
  const now = ports.now();
  const at = requested ?? now;
  const found = visibleKey(caller, await findNamed(ports, name, caller.orgID));
  if (found && at < now) return explainPast(ports, caller, found, request, at);
  const [key] = found ? await withLiveQuotas(externalCounters, [found]) : [];
  const decision = decideAccess(key, await policies.current(), key?.quota ?? noQuota, request, at);
  return { decision, at, version: key?.version };
}

const noQuota = { used: 0n, renews: undefined };

async function explainPast(
  { store, policies }: Ports,
  caller: CallContext,
  key: StoredKey,
  request: AccessRequest,
  at: Date,
): Promise<Explanation> {
  const entry = await entryAt(store, caller, key, at);
  const definition = entry && (await store.definitionAt(key.keyHash, entry.versionAfter));
  const past: DecidedKey | undefined =
    entry && definition
      ? {
          definition,
          orgID: key.orgID,
          deleted: entry.operation === 'delete' ? entry.at : undefined,
          secrets: await secretsAt(store, caller, key, entry.versionAfter),
        }
      : undefined;
  const decision = decideAccess(past, await policies.at(at), noQuota, { ...request, amount: 0n }, at);
  return { decision: { ...decision, quota: undefined }, at, version: entry?.versionAfter };
}

/** The newest entry of the history that is not after a time; undefined if the key was created later. */
async function entryAt(
  store: Ports['store'],
  { reads }: CallContext,
  key: StoredKey,
  at: Date,
): Promise<KeyRevision | undefined> {
  let found: KeyRevision | undefined;
  for (let [from, to] = [1, key.version]; from <= to;) {
    const middle = Math.floor((from + to) / 2);
    const [entry] = await store.historyOf(key.keyHash, { after: middle - 1, limit: 1, asOf: key }, reads);
    if (entry === undefined) throw new AppError('NOT_FOUND', 'The history of the key is not complete.');
    if (entry.at > at) to = middle - 1;
    else {
      found = entry;
      from = middle + 1;
    }
  }
  return found;
}

const pageSize = 100;

/** Which secrets a version had: the first change after it shows whether there was one. Their values are not read. */
async function secretsAt(
  store: Ports['store'],
  { reads }: CallContext,
  key: StoredKey,
  version: number,
): Promise<StoredSecrets> {
  const isSet = new Map<string, boolean>();
  for (let after = version; after < key.version && isSet.size < 3; after += pageSize) {
    const entries = await store.historyOf(key.keyHash, { after, limit: pageSize, asOf: key }, reads);
    for (const change of entries.flatMap(({ changes }) => changes).filter(isSecretChange)) {
      const name = change.path.join('.');
      if (!isSet.has(name)) isSet.set(name, change.kind !== 'SET');
    }
  }
  const wasSet = (path: string, value: unknown) => isSet.get(path) ?? value !== undefined;
  const { passwordHash, jwtSecret, hmacString } = key.secrets;
  return {
    passwordHash: wasSet('basicAuthData.password', passwordHash) ? '' : undefined,
    jwtSecret: wasSet('jwtData.secret', jwtSecret) ? new Uint8Array() : undefined,
    hmacString: wasSet('hmacString', hmacString) ? new Uint8Array() : undefined,
  };
}
