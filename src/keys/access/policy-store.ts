import { AppError } from '../../lib/errors.js';
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
}

/** A change of one policy: its new version, or undefined to remove it. */
export interface PolicyChange {
  readonly policyID: string;
  readonly policy: Policy | undefined;
}

/**
 * The policies and their history. Rows that fail their integrity check, and rows that were removed or replaced by older ones,
 * throw INTERNAL: no decision is made with them.
 */
export interface PolicyStore {
  /** The policies, as they were at most a second ago. Changes through this store are seen at once. */
  current(): Promise<ReadonlyMap<string, KnownPolicy>>;
  /** The policies at a past time. */
  at(moment: Date): Promise<Policies>;
  /** The newest version of each policy, also of removed ones, by identifier. */
  versions(): Promise<PolicyVersion[]>;
  /** All versions of a policy, oldest first. */
  historyOf(policyID: string): Promise<PolicyVersion[]>;
  /**
   * Writes changes in one transaction. Changes that change nothing write nothing.
   *
   * @throws {AppError} CONFLICT when there would be too many policies, or they would be too large.
   */
  change(changes: readonly PolicyChange[], actor: Actor, at: Date): Promise<PolicyVersion[]>;
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
