import type { Definition } from '../definition/normalize.js';

/** The parts of a key that a policy can govern. Where it governs one, the key's own values of that part do not count. */
export const policyParts = {
  RATE_LIMIT: '`rate`, `per`, `smoothing`, `throttleInterval` and `throttleRetryLimit`.',
  QUOTA: '`quotaMax` and `quotaRenewalRate`.',
  QUERY_DEPTH: '`maxQueryDepth`.',
  ACCESS_RIGHTS: '`accessRights`: the APIs, their versions, and the allowed paths and methods.',
} as const;

/** One of {@link policyParts}. */
export type PolicyPart = keyof typeof policyParts;

/** All parts, in the order of {@link policyParts}. */
export const allPolicyParts = Object.keys(policyParts) as PolicyPart[];

/** The fields of each part that limits, of a key, a policy or one API, can have. */
export const fieldsOfPart = {
  RATE_LIMIT: ['rate', 'per', 'smoothing', 'throttleInterval', 'throttleRetryLimit'],
  QUOTA: ['quotaMax', 'quotaRenewalRate'],
  QUERY_DEPTH: ['maxQueryDepth'],
} as const satisfies Partial<Record<PolicyPart, readonly (keyof Definition)[]>>;

/** A part that consists of limits. */
export type LimitPart = keyof typeof fieldsOfPart;

/** A field of a part that consists of limits. */
export type LimitName = (typeof fieldsOfPart)[LimitPart][number];

/** The limits that a key, a policy or an entry of their access rights states. */
export type LimitValues = Pick<Definition, LimitName>;

/** The access of a key, or of a policy, to one API. */
export type AccessRight = NonNullable<Definition['accessRights']>[number];

/** A policy: values for many keys, which name it in `applyPolicies`. */
export interface Policy extends LimitValues {
  readonly policyID: string;
  /** The organization whose keys may name it; undefined for all. */
  readonly orgID?: string | undefined;
  readonly name?: string | undefined;
  /** Whether it switches off every key that names it. */
  readonly isInactive?: boolean | undefined;
  readonly governs: readonly PolicyPart[];
  readonly accessRights?: readonly AccessRight[] | undefined;
}

/** The known policies by their identifiers. */
export type Policies = ReadonlyMap<string, Policy>;

/** Where a value comes from. */
export interface Origin {
  /** The policy; undefined for the key itself. */
  readonly policyID: string | undefined;
}

/** The origin of the key's own values. */
export const ownOrigin: Origin = { policyID: undefined };

/** Returns the name that a gateway has for the API of an entry. */
export function apiOf({ apiID, label }: AccessRight): string {
  return apiID === undefined || apiID === '' ? label : apiID;
}
