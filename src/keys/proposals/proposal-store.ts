import type { NewNotice } from '../notices.js';
import type { Receipt } from '../receipt.js';
import type { KnownProposal, Proposal, ProposalState, ProposalStep } from './proposal.js';

/** Maximum number of proposals of an organization that have not ended. */
export const maxUnended = 100;

/** Selects proposals, the newest first. */
export interface ProposalQuery {
  /** Undefined for all organizations. */
  readonly orgID?: string | undefined;
  /** Undefined for all states. */
  readonly states?: readonly ProposalState[] | undefined;
  readonly keyHash?: string | undefined;
  /** The last proposal of the page before. */
  readonly after?: ProposalPosition | undefined;
  readonly limit: number;
}

/** A page of proposals. */
export interface ProposalPage {
  /** One that fails its integrity check is an error in its place. */
  readonly items: readonly (KnownProposal | (Error & ProposalPosition))[];
  /** Whether more proposals follow, although there are fewer than the limit. */
  readonly isCut: boolean;
}

/** The place of a proposal in lists. */
export type ProposalPosition = Pick<Proposal, 'id' | 'proposedAt'>;

/** A proposal to add. */
export interface NewProposal {
  readonly proposal: Proposal;
  /** Its sealed request. */
  readonly sealed: Uint8Array;
  readonly notice: NewNotice;
  readonly receipt: Receipt | undefined;
}

/** The sealed request of a proposal. */
export interface SealedRequest {
  readonly id: string;
  readonly sealed: Uint8Array;
}

/** A step that is no change of a key, to record. */
export interface NewStep {
  readonly step: ProposalStep;
  /** When the proposal is due from now on; undefined if it has ended. */
  readonly due?: Date | undefined;
  /** What takes the place of the sealed request; undefined to remove it with the end, and to keep it before. */
  readonly sealed?: Uint8Array | undefined;
  readonly notice?: NewNotice | undefined;
}

/**
 * The proposals. Rows are added and never changed, and each end is added once: a change that a proposal makes adds it in its
 * own transaction (`KeyTransition.steps`).
 */
export interface ProposalStore {
  /** @throws {AppError} CONFLICT when the organization has {@link maxUnended} proposals that have not ended. */
  add(added: NewProposal): Promise<void>;
  /**
   * Returns a proposal; undefined if there is none. With `orgID`, one of another organization is not read.
   *
   * @throws {AppError} INTERNAL when a row of it fails its integrity check.
   */
  find(id: string, orgID?: string): Promise<KnownProposal | undefined>;
  /** Returns a page of proposals. At most 4 MiB of them are read, and at least one. */
  list(query: ProposalQuery): Promise<ProposalPage>;
  /** Returns the sealed request; undefined if it was removed. */
  sealedOf(id: string): Promise<Uint8Array | undefined>;
  /** Records a step. Returns false, and records nothing, if the proposal has ended, or was approved before. */
  record(step: NewStep): Promise<boolean>;
  /** Returns the identifiers of proposals that are due, the earliest first. */
  due(at: Date, limit: number): Promise<string[]>;
  /** Removes proposals that have ended before this time. Returns how many. */
  purge(endedBefore: Date): Promise<number>;
  /** Yields the sealed requests, a page at a time. */
  allSealed(): AsyncIterable<readonly SealedRequest[]>;
  /** Replaces a sealed request, if it is still `before`. */
  reseal(id: string, before: Uint8Array, after: Uint8Array): Promise<void>;
  /** Descriptions of rows that fail the integrity check; none if all are intact. */
  verify(): Promise<string[]>;
}
