import type { ReadBudget } from './read-budget.js';
import type { StoredKey } from './key.js';

/** The maximum number of gateways of one organization, and of those that have the keys of all organizations. */
export const maxGateways = 1_000;

/** What names a gateway: its name among those with the keys of one organization, or of all. */
export interface GatewayID {
  /** Undefined for a gateway with the keys of all organizations. */
  readonly orgID: string | undefined;
  readonly name: string;
}

/** What a gateway has, as its adapter says. */
export interface Acknowledgement extends GatewayID {
  /** Undefined while the adapter reads all keys anew, and does not know what the gateway has. */
  readonly cursor: string | undefined;
  readonly digest: string | undefined;
  readonly at: Date;
}

/** A gateway with what it has acknowledged last. */
export interface Gateway extends Acknowledgement {
  /**
   * For how many seconds the oldest change has waited that the gateway has not acknowledged; 0 if there is none. While all
   * keys are read anew, the time since that began. If its own changes are behind 1,000 of others, the time of these counts.
   */
  readonly lag: number;
}

/** Selects gateways, in the order of their names. */
export interface GatewayQuery {
  /** The gateways that have the keys of this organization. Undefined for all gateways. */
  readonly orgID?: string | undefined;
  /** Only those with these names. */
  readonly names?: readonly string[] | undefined;
  readonly after?: GatewayID | undefined;
  readonly limit: number;
}

/** What one gateway has of one key. */
export interface Deployment extends GatewayID {
  /**
   * The version that the gateway has at least: the newest one whose change it has acknowledged. Undefined if it has
   * acknowledged none of the newest 32 versions.
   */
  readonly version: number | undefined;
  /** When the gateway acknowledged last. */
  readonly at: Date;
  /** Whether it has acknowledged the newest change of the key. */
  readonly isCurrent: boolean;
}

/** A page of the keys that a complete copy has at a cursor. */
export interface DigestPage {
  /** The sum of the digests of its keys, modulo 2^256. */
  readonly sum: bigint;
  readonly keys: number;
  /** The row that was read last; undefined after the last page. */
  readonly end: bigint | undefined;
}

/** What gateways have acknowledged. Not signed: nothing decides access by it. */
export interface GatewayStore {
  /**
   * Records what a gateway has, in place of what it had before. Returns whether the gateway is new.
   *
   * @throws {AppError} INVALID with the path `cursor` when it is none of this database; CONFLICT when there are too many gateways.
   */
  acknowledge(acknowledgement: Acknowledgement): Promise<boolean>;
  /** Removes a gateway. Returns whether there was one. */
  forget(gateway: GatewayID): Promise<boolean>;
  list(query: GatewayQuery, now: Date): Promise<Gateway[]>;
  /** Returns what the gateways have of each of these keys, in their order. */
  deployments(keys: readonly StoredKey[], query: Omit<GatewayQuery, 'orgID'>): Promise<Deployment[][]>;
  /**
   * Reads the next keys of a complete copy as it was at a cursor: changes after it do not count, also while they are made.
   *
   * @throws {AppError} INVALID with the path `cursor` when it is none of this database.
   */
  digest(query: { orgID: string | undefined; cursor: string; after: bigint }, reads?: ReadBudget): Promise<DigestPage>;
  /** The largest lag of all gateways, in seconds. */
  maxLag(now: Date): Promise<number>;
}
