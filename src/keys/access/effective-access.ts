import type { Definition } from '../definition/normalize.js';
import { combineLimits, combineQuota, statesPart, type EffectiveLimits, type LimitSource } from './limits.js';
import {
  apiOf,
  ownOrigin,
  type AccessRight,
  type LimitPart,
  type Origin,
  type Policies,
  type Policy,
  type PolicyPart,
} from './policy.js';

/** What the access of a key depends on, apart from the policies. */
export interface AccessKey {
  readonly definition: Definition;
  /** Undefined if no organization owns the key, which only a preview can have. */
  readonly orgID: string | undefined;
}

/** A path that a key may call. */
export interface EffectiveUrl {
  readonly url: string;
  readonly methods: readonly string[];
  readonly origin: Origin;
}

/** The access of a key to one API, of all sources that permit it. */
export interface EffectiveRight {
  readonly api: string;
  readonly apiName: string | undefined;
  /** The sources that permit the API, in their order. */
  readonly origins: readonly Origin[];
  readonly versions: readonly string[];
  /** Undefined if one of the sources permits all paths and methods. */
  readonly allowedUrls: readonly EffectiveUrl[] | undefined;
  /** Whether there are more allowed paths than the {@link maxRules} first ones. */
  readonly isCut: boolean;
  /** The limits that apply to requests for this API. */
  readonly limits: EffectiveLimits;
}

/** The key and its policies, from which each effective value is computed. */
export interface AccessSources {
  readonly key: AccessKey;
  /** The known policies that the key names, in its order. */
  readonly policies: readonly Policy[];
  /** The identifiers that the key names and that no policy has, or one that its organization may not use. */
  readonly unknownPolicies: readonly string[];
  /** Whether any policy is known. If not, identifiers of policies are opaque. */
  readonly arePoliciesKnown: boolean;
}

/** Resolves the policies that a key names. */
export function accessSources(key: AccessKey, policies: Policies): AccessSources {
  const known: Policy[] = [];
  const unknownPolicies: string[] = [];
  for (const policyID of key.definition.applyPolicies ?? []) {
    const policy = policies.get(policyID);
    if (policy && isUsableBy(policy, key.orgID)) known.push(policy);
    else unknownPolicies.push(policyID);
  }
  return { key, policies: known, unknownPolicies, arePoliciesKnown: policies.size > 0 };
}

/** Whether keys of an organization may name the policy. */
export function isUsableBy(policy: Policy, orgID: string | undefined): boolean {
  return policy.orgID === undefined || policy.orgID === orgID;
}

/** The source that switches the key off; undefined if none does. */
export function inactiveOrigin({ key, policies }: AccessSources): Origin | undefined {
  if (key.definition.isInactive === true) return ownOrigin;
  const policy = policies.find(({ isInactive }) => isInactive === true);
  return policy && originOf(policy);
}

/** The limits of the key as a whole. */
export function effectiveLimits(sources: AccessSources): EffectiveLimits {
  return combineLimits((part) => keySources(sources, part));
}

/** The part of a key that its effective quota depends on. */
export interface QuotaKey extends Pick<AccessKey, 'orgID'> {
  readonly definition: Pick<Definition, 'quotaMax' | 'quotaRenewalRate' | 'applyPolicies'>;
}

/**
 * Returns the key with the maximum and the period of the quota that its policies give it; they are its own if no known policy
 * governs the quota. Whatever consumes, shows, sums up, resets or carries over a counter uses this key.
 */
export function withEffectiveQuota<Key extends QuotaKey>(key: Key, policies: Policies): Key {
  if (policies.size === 0 || (key.definition.applyPolicies ?? []).length === 0) return key;
  const sources = accessSources(key, policies);
  if (governingPolicies(sources.policies, 'QUOTA').length === 0) return key;
  const { quotaMax: _max, quotaRenewalRate: _rate, ...definition } = key.definition;
  const { values } = combineQuota(keySources(sources, 'QUOTA'));
  return { ...key, definition: { ...definition, ...values } };
}

/** The APIs that the key may call, in the order of its sources. */
export function effectiveApis(sources: AccessSources): readonly string[] {
  return [...new Set(rightsSources(sources).flatMap(({ rights }) => rights.map(apiOf)))];
}

/** The access of the key to this API; undefined if it has none. */
export function effectiveRight(sources: AccessSources, api: string): EffectiveRight | undefined {
  const granting = rightsSources(sources).flatMap(({ rights, origin }) =>
    entriesFor(rights, api).map((right) => ({ right, origin })),
  );
  if (granting.length === 0) return undefined;
  const isRestricted = granting.every(({ right }) => right.allowedUrls && right.allowedUrls.length > 0);
  return {
    api,
    apiName: granting.find(({ right }) => right.apiName)?.right.apiName,
    origins: distinct(granting.map(({ origin }) => origin)),
    versions: [...new Set(granting.flatMap(({ right }) => right.versions ?? []))],
    ...(isRestricted ? firstUrls(granting) : { allowedUrls: undefined, isCut: false }),
    limits: combineLimits((part) => apiSources(sources, part, api)),
  };
}

/** Maximum number of allowed paths of one API that a decision uses. */
export const maxRules = 10_000;

function firstUrls(granting: readonly { readonly right: AccessRight; readonly origin: Origin }[]) {
  const allowedUrls: EffectiveUrl[] = [];
  for (const { right, origin } of granting) {
    for (const { url, methods = [] } of right.allowedUrls ?? []) {
      if (url === undefined) continue;
      if (allowedUrls.length === maxRules) return { allowedUrls, isCut: true };
      allowedUrls.push({ url, methods, origin });
    }
  }
  return { allowedUrls, isCut: false };
}

/** The entries of each API, by the list. Computed once: a policy with a thousand entries is used for many keys. */
const entriesOfLists = new WeakMap<readonly AccessRight[], ReadonlyMap<string, readonly AccessRight[]>>();

/** The entries of a list for one API. */
function entriesFor(rights: readonly AccessRight[], api: string): readonly AccessRight[] {
  const known = entriesOfLists.get(rights);
  if (known) return known.get(api) ?? [];
  const entries = new Map<string, AccessRight[]>();
  for (const right of rights) {
    const ofAPI = entries.get(apiOf(right));
    if (ofAPI) ofAPI.push(right);
    else entries.set(apiOf(right), [right]);
  }
  entriesOfLists.set(rights, entries);
  return entries.get(api) ?? [];
}

/**
 * About how many steps it takes to compute the access to all APIs: the number of their entries, times the sources that limit
 * each of them, and of their allowed paths.
 */
export function workOfRights(sources: AccessSources): number {
  const entries = rightsSources(sources).flatMap(({ rights }) => rights);
  const urls = entries.reduce((sum, { allowedUrls = [] }) => sum + allowedUrls.length, 0);
  const others = sources.policies.filter(({ governs }) => !governs.includes('ACCESS_RIGHTS')).length;
  return urls + entries.length * (1 + others);
}

interface RightsSource {
  readonly rights: readonly AccessRight[];
  readonly origin: Origin;
}

function rightsSources({ key, policies }: AccessSources): RightsSource[] {
  const governing = governingPolicies(policies, 'ACCESS_RIGHTS');
  if (governing.length === 0) return [{ rights: key.definition.accessRights ?? [], origin: ownOrigin }];
  return governing.map((policy) => ({ rights: policy.accessRights ?? [], origin: originOf(policy) }));
}

function keySources({ key, policies }: AccessSources, part: LimitPart): LimitSource[] {
  const governing = governingPolicies(policies, part);
  if (governing.length === 0) return [{ limits: key.definition, origin: ownOrigin }];
  return governing.map((policy) => ({ limits: policy, origin: originOf(policy) }));
}

/**
 * The sources of the limits of one API. A policy with access rights limits the APIs that it lists, any other policy all of
 * them. Limits that a source states for the API replace those that it states for the key.
 */
function apiSources(sources: AccessSources, part: LimitPart, api: string): LimitSource[] {
  const { key, policies } = sources;
  const governing = governingPolicies(policies, part);
  if (governing.length === 0) {
    const rights = governingPolicies(policies, 'ACCESS_RIGHTS').length === 0 ? key.definition.accessRights : undefined;
    return [{ limits: limitsFor(api, part, key.definition, rights), origin: ownOrigin }];
  }
  const limiting = governing.filter((policy) => isLimiting(policy, api));
  return (limiting.length > 0 ? limiting : governing).map((policy) => ({
    limits: limitsFor(api, part, policy, policy.governs.includes('ACCESS_RIGHTS') ? policy.accessRights : undefined),
    origin: originOf(policy),
  }));
}

function isLimiting({ governs, accessRights = [] }: Policy, api: string): boolean {
  return !governs.includes('ACCESS_RIGHTS') || entriesFor(accessRights, api).length > 0;
}

function limitsFor(
  api: string,
  part: LimitPart,
  limits: LimitSource['limits'],
  rights: readonly AccessRight[] | undefined,
): LimitSource['limits'] {
  const own = rights && entriesFor(rights, api).find(({ limit }) => limit && statesPart(limit, part));
  return own?.limit ?? limits;
}

function governingPolicies(policies: readonly Policy[], part: PolicyPart): Policy[] {
  return policies.filter(({ governs }) => governs.includes(part));
}

function originOf({ policyID }: Policy): Origin {
  return { policyID };
}

function distinct(origins: readonly Origin[]): Origin[] {
  return [...new Map(origins.map((origin) => [origin.policyID, origin])).values()];
}
