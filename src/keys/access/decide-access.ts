import type { Path } from '../../lib/errors.js';
import { unixSeconds } from '../../lib/int64.js';
import type { QuotaState, StoredKey } from '../key.js';
import { quotaFigures, type QuotaFigures } from '../quota/quota.js';
import {
  accessSources,
  effectiveLimits,
  effectiveRight,
  inactiveOrigin,
  type AccessSources,
  type EffectiveRight,
  type EffectiveUrl,
} from './effective-access.js';
import type { EffectiveLimits } from './limits.js';
import { findMatch, matchablePath, maxPathLength } from './path-rules.js';
import type { Origin, Policies } from './policy.js';

/** What a decision says. The first that applies, in this order; VALID if none does. */
export const accessCodes = {
  NOT_FOUND: 'There is no such key.',
  DELETED: 'The key is deleted.',
  INACTIVE: 'The key, or a policy that it names, is switched off.',
  EXPIRED: 'The key has expired.',
  OTHER_CREDENTIAL_REQUIRED: 'The key needs a proof beside its identifier, which the request does not have.',
  UNKNOWN_POLICY: 'The key names a policy that is not known, so that its access cannot be computed.',
  NO_ACCESS: 'The key has no access to the API, or to this version of it.',
  METHOD_OR_PATH_DENIED: 'The key has access to the API, but not with this method and path.',
  QUOTA_EXCEEDED: 'Fewer requests remain in the quota of the key than the request takes.',
  VALID: 'The request is allowed.',
} as const;

/** One of {@link accessCodes}. */
export type AccessCode = keyof typeof accessCodes;

/** What a client can prove beside the identifier of its key. The gateway verifies it. */
export const proofs = {
  BASIC: 'The password of HTTP Basic authentication.',
  JWT: 'A JSON Web Token that the secret of the key signs.',
  HMAC: 'An HMAC signature with `hmacString`.',
  SIGNATURE: 'An HTTP signature with the certificate of `rsaCertificateID`.',
  CERTIFICATE: 'The client certificate of the key.',
} as const;

/** One of {@link proofs}. */
export type Proof = keyof typeof proofs;

/** A request to an API. What is absent is not checked, except that a restricted API needs the method and the path. */
export interface AccessRequest {
  /** The name of the API at the gateway. If it is absent, access rights are not checked. */
  readonly api?: string | undefined;
  readonly version?: string | undefined;
  /** In any case. */
  readonly method?: string | undefined;
  /** The path as the client sent it. A query is ignored. */
  readonly path?: string | undefined;
  /** Requests that it takes from the quota: 1 if absent, 0 to leave the quota out of the decision. */
  readonly amount?: bigint | undefined;
  /** The proofs that the gateway has verified. */
  readonly proofs?: readonly Proof[] | undefined;
}

/** One reason to deny a request. */
export interface AccessReason {
  readonly code: Exclude<AccessCode, 'VALID'>;
  /** For people; it contains no secret and no identifier of a key. */
  readonly message: string;
  /** Where the value that denies comes from; undefined if there is no such value. */
  readonly origin?: Origin | undefined;
  /** The field of the key that the reason is about; undefined if it is about a policy or the request. */
  readonly path?: Path | undefined;
}

/** The decision about one request. */
export interface AccessDecision {
  readonly isAllowed: boolean;
  readonly code: AccessCode;
  /** All reasons to deny the request, the one of `code` first; none if it is allowed. */
  readonly reasons: readonly AccessReason[];
  /** The known policies that apply, and the unknown ones; undefined if there is no key. */
  readonly sources: AccessSources | undefined;
  /**
   * The limits that apply to the request: those of its API, or of the key if it names none. The gateway enforces them, except for the quota
   * of the key.
   */
  readonly limits: EffectiveLimits;
  /** The access to the API of the request; undefined if there is none. */
  readonly right: EffectiveRight | undefined;
  /** The rule that permits the method and the path; undefined if all are permitted, or none. */
  readonly rule: EffectiveUrl | undefined;
  /** The counter of the key, with its effective maximum and period. It is the only one that counts here. */
  readonly quota: QuotaFigures | undefined;
}

/** The part of a stored key that decisions need. */
export type DecidedKey = Pick<StoredKey, 'definition' | 'orgID' | 'secrets' | 'deleted'>;

const noLimits: EffectiveLimits = { values: {}, origins: {} };

/**
 * Decides whether a request with a key is allowed, and says why not. Pure; takes less than 5 ms.
 *
 * @param key undefined if there is no such key, or the caller may not see it.
 * @param quota the live counter of the key.
 */
export function decideAccess(
  key: DecidedKey | undefined,
  policies: Policies,
  quota: QuotaState,
  request: AccessRequest,
  now: Date,
): AccessDecision {
  if (!key) return denied([{ code: 'NOT_FOUND', message: 'There is no such key.' }]);
  const sources = accessSources(key, policies);
  const keyLimits = effectiveLimits(sources);
  const figures = quotaFigures({ definition: keyLimits.values, quota }, now);
  const right = request.api === undefined ? undefined : effectiveRight(sources, request.api);
  const { rule, reason: ruleReason } = right ? matchRules(right, request) : {};
  const reasons = [
    ...stateReasons(key, sources, now),
    ...proofReasons(key, request.proofs ?? []),
    ...unknownPolicyReasons(sources),
    ...accessReasons(right, request),
    ...(ruleReason ? [ruleReason] : []),
    ...quotaReasons(figures, request.amount ?? 1n, keyLimits),
  ];
  return {
    isAllowed: reasons.length === 0,
    code: reasons[0]?.code ?? 'VALID',
    reasons,
    sources,
    limits: right ? right.limits : keyLimits,
    right,
    rule,
    quota: figures,
  };
}

function denied(reasons: readonly AccessReason[]): AccessDecision {
  const code = reasons[0]?.code ?? 'NOT_FOUND';
  const nothing = { sources: undefined, right: undefined, rule: undefined, quota: undefined };
  return { isAllowed: false, code, reasons, limits: noLimits, ...nothing };
}

function stateReasons({ definition, deleted }: DecidedKey, sources: AccessSources, now: Date): AccessReason[] {
  const reasons: AccessReason[] = [];
  if (deleted !== undefined) reasons.push({ code: 'DELETED', message: 'The key is deleted.' });
  const origin = inactiveOrigin(sources);
  if (origin?.policyID !== undefined)
    reasons.push({ code: 'INACTIVE', message: `The policy ${quote(origin.policyID)} is switched off.`, origin });
  else if (origin)
    reasons.push({ code: 'INACTIVE', message: 'The key is switched off.', origin, path: ['isInactive'] });
  const { expires } = definition;
  if (expires !== undefined && expires >= 1n && expires <= unixSeconds(now))
    reasons.push({ code: 'EXPIRED', message: `The key expired at ${expires} (Unix seconds).`, path: ['expires'] });
  return reasons;
}

/** Returns the proofs that a key needs beside its identifier, with the field that says so. */
export function requiredProofs({ definition, secrets }: Pick<DecidedKey, 'definition' | 'secrets'>): Map<Proof, Path> {
  const required = new Map<Proof, Path>();
  if (secrets.passwordHash !== undefined) required.set('BASIC', ['basicAuthData', 'password']);
  if (secrets.jwtSecret !== undefined) required.set('JWT', ['jwtData', 'secret']);
  if (definition.hmacEnabled === true) required.set('HMAC', ['hmacEnabled']);
  if (definition.enableHttpSignatureValidation === true) required.set('SIGNATURE', ['enableHttpSignatureValidation']);
  if (definition.certificate) required.set('CERTIFICATE', ['certificate']);
  return required;
}

function proofReasons(key: DecidedKey, given: readonly Proof[]): AccessReason[] {
  const reasons: AccessReason[] = [];
  for (const [proof, path] of requiredProofs(key)) {
    if (given.includes(proof)) continue;
    const message = `The request does not prove: ${proofs[proof]}`;
    reasons.push({ code: 'OTHER_CREDENTIAL_REQUIRED', message, path });
  }
  return reasons;
}

function unknownPolicyReasons({ key, unknownPolicies }: AccessSources): AccessReason[] {
  const named = key.definition.applyPolicies ?? [];
  return unknownPolicies.map((policyID) => ({
    code: 'UNKNOWN_POLICY',
    message: `The policy ${quote(policyID)} is not known.`,
    path: ['applyPolicies', named.indexOf(policyID)],
  }));
}

function accessReasons(right: EffectiveRight | undefined, { api, version }: AccessRequest): AccessReason[] {
  if (api === undefined) return [];
  if (!right) return [{ code: 'NO_ACCESS', message: `Neither the key nor a policy permits the API ${quote(api)}.` }];
  if (version === undefined || right.versions.includes(version)) return [];
  return [{ code: 'NO_ACCESS', message: `The version ${quote(version)} of the API is not permitted.` }];
}

function matchRules(
  { allowedUrls, isCut }: EffectiveRight,
  { method, path }: AccessRequest,
): { readonly rule?: EffectiveUrl; readonly reason?: AccessReason } {
  if (!allowedUrls) return {};
  const deny = (message: string) => ({ reason: { code: 'METHOD_OR_PATH_DENIED' as const, message } });
  if (method === undefined || path === undefined)
    return deny('The API is restricted to paths and methods, and the request does not name both.');
  const text = matchablePath(path);
  if (!text)
    return deny(
      `The path is not absolute, is longer than ${maxPathLength} characters, or has a segment that servers resolve, such as "..".`,
    );
  const upperCase = method.toUpperCase();
  const found = findMatch(rulesFor(allowedUrls, upperCase), text);
  if (found.rule) return { rule: found.rule };
  return deny(
    found.isComplete && !isCut
      ? `No rule permits ${quote(upperCase)} for this path.`
      : `No rule that can be evaluated permits ${quote(upperCase)} for this path. Other rules are malformed, too large or too many.`,
  );
}

function* rulesFor(rules: readonly EffectiveUrl[], method: string): Iterable<EffectiveUrl> {
  for (const rule of rules) if (rule.methods.includes(method)) yield rule;
}

function quotaReasons({ remaining, max }: QuotaFigures, amount: bigint, { origins }: EffectiveLimits): AccessReason[] {
  if (remaining === undefined || amount <= remaining) return [];
  const message = `The request takes ${amount} of ${remaining} remaining requests; the quota is ${max}.`;
  const origin = origins.quotaMax;
  return [{ code: 'QUOTA_EXCEEDED', message, origin, ...(origin?.policyID === undefined && { path: ['quotaMax'] }) }];
}

/** A text of a client for a message, shortened. */
function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
