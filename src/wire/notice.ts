import type { KeyNotice, NoticeKind } from '../keys/notices.js';

/** The types of notices, in webhooks and on the command line. */
export const noticeTypes: Readonly<Record<NoticeKind, string>> = {
  expiring: 'orgKey.expiring',
  expired: 'orgKey.expired',
  quota_threshold: 'orgKey.quotaThreshold',
  quota_exhausted: 'orgKey.quotaExhausted',
  purged: 'orgKey.purged',
  proposed: 'orgKey.proposed',
  proposal_approved: 'orgKey.proposalApproved',
  proposal_rejected: 'orgKey.proposalRejected',
  proposal_withdrawn: 'orgKey.proposalWithdrawn',
  proposal_expired: 'orgKey.proposalExpired',
  proposal_stale: 'orgKey.proposalStale',
};

/** Converts what a notice reports to the names of REST. Times are in Unix seconds. */
export function noticeToWire(notice: Omit<KeyNotice, 'id' | 'kind' | 'at' | 'keyHash' | 'orgID'>): object {
  const { version, expires, daysBefore, threshold, quotaUsed, quotaMax, quotaRenewsAt, proposalID } = notice;
  return {
    version,
    ...(expires !== undefined && { expires }),
    ...(daysBefore !== undefined && { days_before: daysBefore }),
    ...(threshold !== undefined && { threshold }),
    ...(quotaUsed !== undefined && { quota_used: quotaUsed }),
    ...(quotaMax !== undefined && { quota_max: quotaMax }),
    ...(quotaRenewsAt !== undefined && { quota_renews: quotaRenewsAt }),
    ...(proposalID !== undefined && { proposal_id: proposalID }),
  };
}
