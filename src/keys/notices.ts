import type { StoredKey } from './key.js';
import type { QuotaFigures } from './quota/quota.js';

/** The events of a key in time. They change nothing of the key, and are no versions of it. */
export const noticeKinds = {
  expiring: 'The key expires soon.',
  expired: 'The key has expired.',
  quota_threshold: 'A part of the quota is used that `monitor.triggerLimits` of the key names.',
  quota_exhausted: 'All of the quota is used.',
  purged: 'The key was removed with its history, because the time in which it could be restored is over.',
  proposed: 'A change of the key was proposed.',
  proposal_approved: 'A proposed change was approved. It is made at its time.',
  proposal_rejected: 'A proposed change was rejected.',
  proposal_withdrawn: 'A proposed change was withdrawn by its proposer.',
  proposal_expired: 'A proposed change was not approved in time.',
  proposal_stale: 'A proposed change cannot be made: the key has changed since.',
} as const;

/** How long notices are kept, for receivers that are away: 90 days. */
export const noticeLifetimeMs = 90 * 86_400_000;

/** One of {@link noticeKinds}. */
export type NoticeKind = keyof typeof noticeKinds;

/** What a notice reports about its key. */
export interface NoticeDetails {
  /** For `expiring` and `expired`: when the key expires, in Unix seconds. */
  readonly expires?: bigint | undefined;
  /** For `expiring`: how many days before that the notice is due. */
  readonly daysBefore?: number | undefined;
  /** For `quota_threshold`: the percentage of the quota. */
  readonly threshold?: number | undefined;
  /** For notices of a quota: the requests used when it was noted, the maximum, and the end of the period in Unix seconds. */
  readonly quotaUsed?: bigint | undefined;
  readonly quotaMax?: bigint | undefined;
  readonly quotaRenewsAt?: bigint | undefined;
  /** For notices of a proposal: its identifier. */
  readonly proposalID?: string | undefined;
}

/** An event of a key in time. It contains no identifier of the key. */
export interface KeyNotice extends NoticeDetails {
  /** Follows from what the notice reports: the same event has the same identifier, also after a restore. */
  readonly id: string;
  readonly kind: NoticeKind;
  /** When it was noted. */
  readonly at: Date;
  readonly keyHash: string;
  readonly orgID: string;
  /** The version of the key then. */
  readonly version: number;
}

/** A notice to record. */
export interface NewNotice extends Omit<KeyNotice, 'id'> {
  readonly identity: string;
  /** What distinguishes it from other notices of its kind about the same key. */
  readonly occasion: readonly (string | number)[];
}

/** Returns a notice to record. See {@link NewNotice} for `occasion`. */
export function noticeOf(
  { identity, keyHash, orgID, version }: Pick<StoredKey, 'identity' | 'keyHash' | 'orgID' | 'version'>,
  kind: NoticeKind,
  at: Date,
  occasion: NewNotice['occasion'],
  details: NoticeDetails = {},
): NewNotice {
  return { identity, kind, at, keyHash, orgID, version, occasion, ...details };
}

/** Notes what becomes of quotas. */
export interface QuotaNotices {
  /**
   * Call with a counter after a request was counted or rejected. Cheap, and records nothing itself. `key` has its effective
   * quota.
   */
  readonly note: (key: StoredKey, figures: QuotaFigures, at: Date) => void;
  /** Records what waits. Returns how many notices were new. */
  readonly flush: () => Promise<number>;
}
