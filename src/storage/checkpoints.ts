import type { KeyRollback } from '../keys/ports.js';
import type { PublishedCheckpoint } from './records/checkpoint.js';

/** A checkpoint as it was published outside of the database. */
export type LoggedCheckpoint = Pick<PublishedCheckpoint, 'sequence' | 'digest'>;

/**
 * A difference between the database and its checkpoints. `published`: the chain of published checkpoints is broken.
 * `credentials`: the head of the credentials is older than the checkpoint.
 */
export type CheckpointProblem = KeyRollback | { readonly kind: 'published' } | { readonly kind: 'credentials' };

/** Signed, hash-chained checkpoints of the states of all keys, in the database. They show that older rows were put back. */
export interface Checkpoints {
  /**
   * Verifies the keys of the next pages against the newest checkpoint, and writes one with their states. States that were
   * put back stay as they were before, unless they are accepted.
   *
   * @throws {AppError} INTERNAL when a checkpoint fails its integrity check, or is older than one that this process has read.
   */
  advance(options: {
    readonly purgedBefore: Date;
    readonly accept?: boolean;
  }): Promise<{ readonly isEnd: boolean; readonly rollbacks: readonly KeyRollback[] }>;
  /** Appends the newest checkpoint to the published ones; undefined if the last one is recent or nothing has changed. */
  publish(at: Date, minAgeMs: number): Promise<PublishedCheckpoint | undefined>;
  /**
   * Yields what is older than in the newest checkpoint.
   *
   * @throws {AppError} INTERNAL when a checkpoint fails its integrity check.
   */
  verify(purgedBefore: Date): AsyncIterable<CheckpointProblem>;
  /** Returns those that are not among the published checkpoints of the database, whose chain `verify` verifies. */
  findLost(logged: readonly LoggedCheckpoint[]): Promise<readonly LoggedCheckpoint[]>;
}
