import { createHash } from 'node:crypto';
import type { StoredKey } from './key.js';

/** The events of a key in time. They change nothing of the key, and are no versions of it. */
export const noticeKinds = {
  expiring: 'The key expires soon.',
  expired: 'The key has expired.',
  quota_threshold: 'A part of the quota is used that `monitor.triggerLimits` of the key names.',
  quota_exhausted: 'All of the quota is used.',
  purged: 'The key was removed with its history, because the time in which it could be restored is over.',
} as const;

/** How long notices are kept, for receivers that are away: 90 days. */
export const noticeLifetimeMs = 90 * 86_400_000;

/** One of {@link noticeKinds}. */
export type NoticeKind = keyof typeof noticeKinds;

/** An event of a key in time. It contains no identifier of the key. */
export interface KeyNotice {
  /** Follows from what the notice reports: the same event has the same identifier, also after a restore. */
  readonly id: string;
  readonly kind: NoticeKind;
  /** When it was recorded. */
  readonly at: Date;
  readonly keyHash: string;
  readonly orgID: string;
  /** The version of the key then. */
  readonly version: number;
  /** For `expiring` and `expired`: when the key expires, in Unix seconds. */
  readonly expires?: bigint | undefined;
  /** For `expiring`: how many days before that the notice is due. */
  readonly daysBefore?: number | undefined;
  /** For `quota_threshold`: the percentage of the quota. */
  readonly threshold?: number | undefined;
  /** For notices of a quota: the requests used when it was reached, the maximum, and the end of the period in Unix seconds. */
  readonly quotaUsed?: bigint | undefined;
  readonly quotaMax?: bigint | undefined;
  readonly quotaRenewsAt?: bigint | undefined;
}

/** What a notice reports about its key. */
export type NoticeDetails = Omit<KeyNotice, 'id' | 'kind' | 'at' | 'keyHash' | 'orgID' | 'version'>;

/**
 * Returns the notice of a key.
 *
 * @param occasion - what distinguishes it from other notices of this kind about the same key
 */
export function noticeOf(
  { identity, keyHash, orgID, version }: Pick<StoredKey, 'identity' | 'keyHash' | 'orgID' | 'version'>,
  kind: NoticeKind,
  at: Date,
  occasion: readonly (string | number)[],
  details: NoticeDetails = {},
): KeyNotice {
  const digest = createHash('sha256').update(JSON.stringify([identity, kind, ...occasion]));
  return { id: `evt_${digest.digest('hex').slice(0, 32)}`, kind, at, keyHash, orgID, version, ...details };
}
