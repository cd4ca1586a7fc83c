import type { Definition } from '../definition/normalize.js';
import { combineLimits, statesPart, type EffectiveLimits, type LimitSource } from './limits.js';
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

/**
 * Returns the key with the maximum and the period of the quota that its policies give it, so that its counter is consumed and
 * shown with them. They are its own if no known policy governs the quota.
 */
export function withEffectiveQuota<Key extends AccessKey>(key: Key, policies: Policies): Key {
  if ((key.definition.applyPolicies ?? []).length === 0) return key;
  const sources = accessSources(key, policies);
  if (governingPolicies(sources.policies, 'QUOTA').length === 0) return key;
  const { quotaMax: _max, quotaRenewalRate: _rate, ...definition } = key.definition;
  const { values } = effectiveLimits(sources);
  return {
    ...key,
    definition: {
      ...definition,
      ...(values.quotaMax !== undefined && { quotaMax: values.quotaMax }),
      ...(values.quotaRenewalRate !== undefined && { quotaRenewalRate: values.quotaRenewalRate }),
    },
  };
}

/** The APIs that the key may call, in the order of its sources. */
export function effectiveApis(sources: AccessSources): readonly string[] {
  return [...new Set(rightsSources(sources).flatMap(({ rights }) => rights.map(apiOf)))];
}

/** The access of the key to this API; undefined if it has none. */
export function effectiveRight(sources: AccessSources, api: string): EffectiveRight | undefined {
  const granting = rightsSources(sources).flatMap(({ rights, origin }) =>
    rights.filter((right) => apiOf(right) === api).map((right) => ({ right, origin })),
  );
  if (granting.length === 0) return undefined;
  const isRestricted = granting.every(({ right }) => right.allowedUrls && right.allowedUrls.length > 0);
  return {
    api,
    apiName: granting.find(({ right }) => right.apiName)?.right.apiName,
    origins: distinct(granting.map(({ origin }) => origin)),
    versions: [...new Set(granting.flatMap(({ right }) => right.versions ?? []))],
    allowedUrls: isRestricted ? granting.flatMap(({ right, origin }) => urlsOf(right, origin)) : undefined,
    limits: combineLimits((part) => apiSources(sources, part, api)),
  };
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
  return !governs.includes('ACCESS_RIGHTS') || accessRights.some((right) => apiOf(right) === api);
}

function limitsFor(
  api: string,
  part: LimitPart,
  limits: LimitSource['limits'],
  rights: readonly AccessRight[] | undefined,
): LimitSource['limits'] {
  const own = rights?.find((right) => apiOf(right) === api && right.limit && statesPart(right.limit, part));
  return own?.limit ?? limits;
}

function governingPolicies(policies: readonly Policy[], part: PolicyPart): Policy[] {
  return policies.filter(({ governs }) => governs.includes(part));
}

function urlsOf({ allowedUrls = [] }: AccessRight, origin: Origin): EffectiveUrl[] {
  return allowedUrls.flatMap(({ url, methods = [] }) => (url === undefined ? [] : [{ url, methods, origin }]));
}

function originOf({ policyID }: Policy): Origin {
  return { policyID };
}

function distinct(origins: readonly Origin[]): Origin[] {
  return [...new Map(origins.map((origin) => [origin.policyID, origin])).values()];
}
