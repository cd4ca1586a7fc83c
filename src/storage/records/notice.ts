import { createHash } from 'node:crypto';
import { serviceActor } from '../../keys/actor.js';
import { parseJSON, stringifyJSON } from '../../lib/json.js';
import type { KeyNotice, NewNotice, NoticeKind } from '../../keys/notices.js';
import { linkOf, type RevisionRow } from './key-records.js';

/** The row of a notice. Its link continues no history; it distinguishes cursors. */
export function noticeToRow(notice: NewNotice): RevisionRow {
  const { occasion, kind, at, keyHash, orgID, ...details } = notice;
  const digest = createHash('sha256').update(JSON.stringify([notice.identity, kind, ...occasion]));
  const id = `evt_${digest.digest('hex').slice(0, 32)}`;
  const row = {
    at: BigInt(at.getTime()),
    key_hash: keyHash,
    org_id: orgID,
    operation: kind,
    credential_id: serviceActor.credentialID,
    credential_label: serviceActor.label,
    reason: null,
    request_id: '',
    version: 0n,
    quota_used_before_reset: null,
    changes: '[]',
  };
  return {
    ...row,
    before: null,
    link: linkOf(null, row, id),
    event_id: id,
    notice: stringifyJSON(details),
    proposal: null,
  };
}

/** Whether a row, which may be damaged, is that of a notice, and not of a change. */
export function isNoticeRow<Row extends Pick<RevisionRow, 'event_id'>>(row: Row): row is Row & { event_id: string } {
  return row.event_id !== null;
}

/** Returns the notice of a row that passed its integrity check. */
export function noticeFromRow(row: RevisionRow & { readonly event_id: string }): KeyNotice {
  const { version, daysBefore, threshold, proposalID, ...integers } = detailsOf(row);
  return {
    id: row.event_id,
    kind: row.operation as NoticeKind,
    at: new Date(Number(row.at)),
    keyHash: row.key_hash,
    orgID: row.org_id,
    version,
    daysBefore,
    threshold,
    proposalID,
    expires: bigintOf(integers.expires),
    quotaUsed: bigintOf(integers.quotaUsed),
    quotaMax: bigintOf(integers.quotaMax),
    quotaRenewsAt: bigintOf(integers.quotaRenewsAt),
  };
}

/** The identity of the key that a notice is about: a key that is purged and added again has another one. */
export function noticeIdentityOf(row: RevisionRow): string {
  return detailsOf(row).identity;
}

function detailsOf({ notice }: RevisionRow): Details {
  // Written by us, from this very type.
  return parseJSON(notice ?? '{}') as unknown as Details;
}

/** JSON does not tell a bigint from a number. */
interface Details extends Pick<NewNotice, 'identity' | 'version' | 'daysBefore' | 'threshold' | 'proposalID'> {
  readonly expires?: bigint | number;
  readonly quotaUsed?: bigint | number;
  readonly quotaMax?: bigint | number;
  readonly quotaRenewsAt?: bigint | number;
}

function bigintOf(value: bigint | number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value);
}
