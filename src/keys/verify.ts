import { AppError, type Issue, type Path } from '../lib/errors.js';
import { maxInt64 } from '../lib/int64.js';
import {
  decideAccess,
  type AccessCode,
  type AccessDecision,
  type AccessReason,
  type AccessRequest,
} from './access/decide-access.js';
import { withEffectiveQuota } from './access/effective-access.js';
import type { LimitValues, Policies } from './access/policy.js';
import { visibleKey } from './authorization.js';
import { findNamed } from './find-key.js';
import { hasIdentifier } from './identifiers.js';
import { idempotencyKeyProblem, runIdempotent } from './idempotency.js';
import type { StoredKey } from './key.js';
import type { CallContext, Ports } from './ports.js';
import { withLiveQuotas, type QuotaDecision } from './quota/external-counters.js';
import { consume, quotaFigures, type QuotaFigures } from './quota/quota.js';

/** Maximum number of requests that one call verifies. */
export const maxVerifications = 100;

/** A request of a client that a gateway asks about. */
export interface VerifyRequest extends AccessRequest {
  /** Identifies the request. Within 24 hours it is counted once, however often the gateway asks. */
  readonly idempotencyKey?: string | undefined;
}

/** A request with the hash of its key; undefined if no key can have the identifier that the client sent. */
export interface IdentifiedRequest extends VerifyRequest {
  readonly keyHash: string | undefined;
}

/** The answer to a gateway. It contains what the gateway needs, and nothing else of the definition. */
export interface Verification {
  readonly isAllowed: boolean;
  readonly code: AccessCode;
  /** All reasons to deny the request; none if it is allowed. */
  readonly reasons: readonly AccessReason[];
  /** Undefined if there is no key. */
  readonly keyHash: string | undefined;
  readonly orgID: string | undefined;
  readonly alias: string | undefined;
  /** The limits that apply to the request. The gateway enforces them, except for the quota of the key. */
  readonly limits: LimitValues;
  /** The live quota, including the request if it is allowed; undefined if it was not read. */
  readonly quota: QuotaFigures | undefined;
}

const noQuota = { used: 0n, renews: undefined };

/**
 * Decides about a request with a key, and takes it from the quota if it is allowed. The decision uses the definition and the
 * counter at the time of the write, so that concurrent requests are never granted more than the quota. A repeated request is
 * decided anew and counted once: if the key was revoked meanwhile, it is denied.
 *
 * @throws {AppError} INVALID for a request that is not valid; UNAVAILABLE when the storage or the counter is unreachable;
 * otherwise as `runIdempotent`.
 */
export async function verifyKey(ports: Ports, caller: CallContext, request: IdentifiedRequest): Promise<Verification> {
  throwIfAny(issuesOf(request, []));
  const complete = await decide(ports, caller, await ports.policies.current(), request);
  return complete();
}

/**
 * Does the same for several requests. They are decided one after the other, and then counted at once. If one fails, others
 * may be counted.
 *
 * @throws {AppError} INVALID if one of them is not valid, and none is counted then; otherwise as `verifyKey`.
 */
export async function verifyKeys(
  ports: Ports,
  caller: CallContext,
  requests: readonly IdentifiedRequest[],
): Promise<Verification[]> {
  throwIfAny(requests.flatMap((request, index) => issuesOf(request, ['requests', index])));
  const known = await ports.policies.current();
  const decided: (() => Promise<Verification>)[] = [];
  for (const request of requests) decided.push(await decide(ports, caller, known, request));
  const results = await Promise.allSettled(decided.map((complete) => complete()));
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** Decides about a request. Returns a function that takes it from the quota, if it may be allowed and there is one. */
async function decide(
  ports: Ports,
  caller: CallContext,
  known: Policies,
  { keyHash, idempotencyKey, ...request }: IdentifiedRequest,
): Promise<() => Promise<Verification>> {
  const { externalCounters, noteUse, now } = ports;
  const { amount = 1n } = request;
  // A repeated request may have taken the last one that remained, and an external counter is not read yet.
  const isQuotaRead = externalCounters === undefined && idempotencyKey === undefined;
  const checked = { ...request, amount: isQuotaRead ? amount : 0n };
  const decideAbout = (stored: StoredKey | undefined) => {
    const key = visibleKey(caller, stored);
    return { found: key, first: decideAccess(key, known, key?.quota ?? noQuota, checked, now()) };
  };
  const name = keyHash === undefined ? undefined : { hash: keyHash, isIdentifier: true };
  const read = async () => name && findNamed(ports, name, caller.orgID);
  await ports.nextSlice();
  const recent = keyHash === undefined ? undefined : recentToCount(ports, known, keyHash, { amount, idempotencyKey });
  let { found, first } = decideAbout(recent ?? (await read()));
  if (recent && !first.isAllowed) ({ found, first } = decideAbout(await read()));
  const isLimited = first.quota?.max !== undefined;
  const note = () => {
    if (keyHash !== undefined && found) noteUse?.(found, { hash: keyHash, amount, isAllowed: first.isAllowed });
  };
  if (keyHash !== undefined && found && first.isAllowed && isLimited) {
    return amount > 0n
      ? () =>
          take(ports, caller, known, { request: { ...request, amount, idempotencyKey }, hash: keyHash, found, first })
      : async () => {
          note();
          const [live = found] = await withLiveQuotas(externalCounters, [found]);
          return verificationOf(found, { ...first, quota: quotaFigures(withEffectiveQuota(live, known), now()) });
        };
  }
  const isStale = externalCounters !== undefined && isLimited;
  // After a kill, a request that is rejected notes again what was lost.
  if (found && !isStale && first.quota?.max !== undefined && !first.isAllowed) {
    ports.quotaNotices?.note(withEffectiveQuota(found, known), first.quota, now());
  }
  return () => {
    note();
    return Promise.resolve(verificationOf(found, isStale ? { ...first, quota: undefined } : first));
  };
}

/**
 * Returns the key as it was read last if the request is counted: `take` decides with the key as it is. A repeated request is
 * not decided again there.
 */
function recentToCount(
  { store, now }: Ports,
  known: Policies,
  keyHash: string,
  { amount, idempotencyKey }: { readonly amount: bigint; readonly idempotencyKey: string | undefined },
): StoredKey | undefined {
  if (amount <= 0n || idempotencyKey !== undefined) return undefined;
  const recent = store.recent(keyHash);
  if (!recent || !hasIdentifier(recent, keyHash, now())) return undefined;
  return quotaFigures(withEffectiveQuota(recent, known), now()).max !== undefined ? recent : undefined;
}

/** Takes an allowed request from the quota, if the key still allows it. */
async function take(
  ports: Ports,
  caller: CallContext,
  known: Policies,
  {
    request: { idempotencyKey, ...request },
    hash,
    found,
    first,
  }: {
    readonly request: VerifyRequest & { readonly amount: bigint };
    /** The hash that the gateway named the key by. */
    readonly hash: string;
    readonly found: StoredKey;
    readonly first: AccessDecision;
  },
): Promise<Verification> {
  const { store, externalCounters, quotaNotices, noteUse, receipts, now } = ports;
  const { keyHash } = found;
  // A property, because the store may decide several times.
  const counted: { key?: StoredKey } = {};
  let used: StoredKey | undefined;
  const decideNow = (stored: StoredKey | undefined): QuotaDecision<Verification> => {
    const at = now();
    const key = visibleKey(caller, stored && hasIdentifier(stored, hash, at) ? stored : undefined);
    used = key;
    // Matching a path takes too long for a transaction, and has the same result while the key is the same.
    const isSame = key?.identity === found.identity && key.version === found.version;
    const { amount, proofs } = request;
    const decision = decideAccess(key, known, key?.quota ?? noQuota, isSame ? { amount, proofs } : request, at);
    const shown = isSame ? { ...decision, limits: first.limits } : decision;
    if (!key || !decision.isAllowed) return { next: undefined, result: verificationOf(key, shown) };
    const limited = withEffectiveQuota(key, known);
    counted.key = limited;
    const { next, result } = consume(limited, amount, at);
    caller.deadline?.markCommitting();
    return { next, result: verificationOf(key, { ...shown, quota: result.figures }) };
  };
  const body = { keyHash, ...request };
  const once = {
    operation: 'verifyKey',
    // Another request with this key is no repetition of this one: clients choose identifiers of requests too.
    idempotencyKey: idempotencyKey === undefined ? undefined : receipts.digest([idempotencyKey, body]),
    body,
    receipts: externalCounters?.receiptsOf(keyHash),
    hasEffect: ({ isAllowed }: Verification) => isAllowed,
  };
  const verification = await runIdempotent<Verification>(ports, caller, once, (receiptOf) =>
    (externalCounters ?? store).consume(
      keyHash,
      (stored) => {
        const decision = decideNow(stored);
        return { ...decision, receipt: decision.next && receiptOf(decision.result) };
      },
      caller.orgID,
    ),
  );
  const { quota } = verification;
  if (counted.key && quota) quotaNotices?.note(counted.key, quota, now());
  // A repeated request was noted the first time.
  if (used) noteUse?.(used, { hash, amount: request.amount, isAllowed: verification.isAllowed });
  return verification;
}

function verificationOf(key: StoredKey | undefined, decision: AccessDecision): Verification {
  const { isAllowed, code, reasons, limits, quota } = decision;
  return {
    isAllowed,
    code,
    reasons,
    keyHash: key?.keyHash,
    orgID: key?.orgID,
    alias: key?.definition.alias,
    limits: limits.values,
    quota,
  };
}

/** The issues of a request at this path. */
function issuesOf({ amount = 1n, idempotencyKey }: IdentifiedRequest, path: Path): Issue[] {
  const issues: Issue[] = [];
  if (amount < 0n || amount > maxInt64 / 2n) {
    const message = `must be from 0 to ${maxInt64 / 2n}`;
    issues.push({ path: [...path, 'amount'], code: 'OUT_OF_RANGE', message });
  }
  const message = idempotencyKey === undefined ? undefined : idempotencyKeyProblem(idempotencyKey);
  if (message !== undefined) issues.push({ path: [...path, 'idempotencyKey'], code: 'MALFORMED_ARGUMENT', message });
  return issues;
}

function throwIfAny(issues: readonly Issue[]): void {
  if (issues.length > 0) throw new AppError('INVALID', 'The request to verify is not valid.', { issues });
}
