import { AppError } from '../../lib/errors.js';
import type { ReceiptOf } from '../receipt.js';
import type { Actor } from '../key.js';
import type { Policies, Policy } from './policy.js';

/** Maximum number of policies. All of them are held in memory. */
export const maxPolicies = 1000;
/** Maximum size of one policy, and of all of them, in bytes of JSON. */
export const maxPolicyBytes = 262_144;
export const maxAllPoliciesBytes = 8 * 1024 * 1024;

/** One version of a policy. */
export interface PolicyVersion {
  readonly policyID: string;
  /** 1 for the first; each change and each removal adds 1. */
  readonly version: number;
  readonly at: Date;
  readonly actor: Actor;
  /** Undefined if the policy was removed. */
  readonly policy: Policy | undefined;
}

/** The newest version of a policy that is not removed. */
export interface KnownPolicy extends Policy {
  readonly version: number;
  readonly changedAt: Date;
  readonly changedBy: Actor;
}

/** All policies at one time. */
export interface PolicySet {
  /** 0 before the first change; each change, of any number of policies, adds 1. */
  readonly version: number;
  /** In the order of their identifiers. */
  readonly policies: ReadonlyMap<string, KnownPolicy>;
}

/** A change of one policy: its new version, or undefined to remove it. */
export interface PolicyChange {
  readonly policyID: string;
  readonly policy: Policy | undefined;
}

/** What to write. */
export interface PolicyDecision<Result> {
  /** Those that change nothing are not written. */
  readonly changes: readonly PolicyChange[];
  /** Returns the result, for the version that the set has afterwards. */
  readonly resultAt: (version: number) => Result;
  /** Makes the receipt that is written with the changes; none is written without changes. */
  readonly receiptOf?: ReceiptOf<Result>;
}

/** Versions of a policy. */
export interface PolicyHistory {
  readonly versions: readonly PolicyVersion[];
  /** The number of the newest version of all; 0 if there is none. */
  readonly newest: number;
}

/** A range of the versions of a policy. */
export interface PolicyHistoryRange {
  /** Only versions above this one. */
  readonly after?: number | undefined;
  /** Only versions below this one. */
  readonly before?: number | undefined;
  /** Whether to return the newest of them. */
  readonly last?: boolean;
  readonly limit: number;
}

/**
 * The policies and their history. Rows that fail their integrity check, and rows that were removed or replaced by older ones,
 * throw INTERNAL: no decision is made with them.
 */
export interface PolicyStore {
  /**
   * The policies, as they were at most a second ago. Changes through this store are seen at once. Callers that wait at the
   * same time share one read.
   */
  current(): Promise<ReadonlyMap<string, KnownPolicy>>;
  /** What `current` returns if it would read nothing, otherwise undefined. */
  cached(): ReadonlyMap<string, KnownPolicy> | undefined;
  /** As `current`, with the version of the set. */
  currentSet(): Promise<PolicySet>;
  /** The policies at a past time. */
  at(moment: Date): Promise<Policies>;
  /** Versions of a policy, oldest first. At most 4 MiB of them are read, and at least two. */
  historyOf(policyID: string, range: PolicyHistoryRange): Promise<PolicyHistory>;
  /**
   * Writes changes in one transaction. `decide` has no effect, because it is called again if other changes came first.
   *
   * @throws {AppError} CONFLICT when there would be too many policies, or they would be too large; UNAVAILABLE when too many
   * other changes came first; and what `decide` throws.
   */
  change<Result>(
    decide: (known: PolicySet) => PolicyDecision<Result> | Promise<PolicyDecision<Result>>,
    actor: Actor,
    at: Date,
  ): Promise<Result>;
  /** Descriptions of rows that fail the integrity check, are missing or are not the newest; none if all are intact. */
  verify(): Promise<string[]>;
}

/** @throws {AppError} CONFLICT when these policies are too many or too large. */
export function requirePolicyCapacity(sizes: readonly number[]): void {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (sizes.length > maxPolicies) throw tooMuch(`${maxPolicies.toLocaleString('en')} policies`);
  if (sizes.some((size) => size > maxPolicyBytes)) throw tooMuch('256 KiB for one policy');
  if (total > maxAllPoliciesBytes) throw tooMuch('8 MiB for all policies');
}

function tooMuch(limit: string): AppError {
  return new AppError('CONFLICT', `The policies would exceed the maximum of ${limit}. Nothing was changed.`);
}
