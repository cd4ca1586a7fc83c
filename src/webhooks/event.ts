import { createHash } from 'node:crypto';
import { pathText } from '../lib/errors.js';
import { stringifyJSON } from '../lib/json.js';
import type { FieldChange } from '../keys/changes.js';
import type { AuditEntry, Operation } from '../keys/store.js';
import type { WebhookMessage } from './message.js';

const types: Record<Operation, string> = {
  import: 'orgKey.imported',
  create: 'orgKey.created',
  update: 'orgKey.updated',
  revert: 'orgKey.reverted',
  delete: 'orgKey.deleted',
  restore: 'orgKey.restored',
};

/** Receivers take less than a definition may hold twice, before and after. */
const mostBytes = 64 * 1024;
const mostChanges = 500;

/** A field that differs, in the names that receivers know it by. */
export type ShownPart = (change: FieldChange) => Pick<FieldChange, 'path' | 'before' | 'after'>;

/** What a receiver is told of a change: what the key's history shows, no secret and no identifier. */
export function messageOf(entry: AuditEntry, shown: ShownPart): WebhookMessage {
  const { at, keyHash, orgID, operation, actor, reason, requestID, quotaUsedBeforeReset } = entry;
  const id = eventIDOf(entry);
  const written = (changes: object) =>
    stringifyJSON({
      type: types[operation],
      timestamp: at.toISOString(),
      data: {
        id,
        org_id: orgID,
        key_hash: keyHash,
        operation,
        version_before: entry.versionBefore,
        version_after: entry.versionAfter,
        credential_label: actor.label,
        ...(reason !== undefined && { reason }),
        ...(requestID !== '' && { request_id: requestID }),
        ...(quotaUsedBeforeReset !== undefined && { quota_used_before_reset: quotaUsedBeforeReset }),
        ...changes,
      },
    });
  const body = written({ changes: entry.changes.map((change) => member(change, shown, true)) });
  if (Buffer.byteLength(body) <= mostBytes) return { id, body };
  const changes = entry.changes.slice(0, mostChanges).map((change) => member(change, shown, false));
  const short = written({ changes, is_shortened: true });
  return { id, body: Buffer.byteLength(short) <= mostBytes ? short : written({ changes: [], is_shortened: true }) };
}

/** The same for each attempt, and another for each change: a key that was purged may come back with the same versions. */
export function eventIDOf({ keyHash, versionAfter, at, requestID }: AuditEntry): string {
  const text = JSON.stringify([keyHash, versionAfter, at.getTime(), requestID]);
  return `evt_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}

/** Of an event whose history entry fails its integrity check, so that nothing in it can be relied on. */
export function unreadableIDOf(keyHash: string, version: number): string {
  return `evt_unreadable_${createHash('sha256')
    .update(JSON.stringify([keyHash, version]))
    .digest('hex')
    .slice(0, 32)}`;
}

function member(change: FieldChange, shown: ShownPart, withValues: boolean): object {
  const { path, before, after } = shown(change);
  return {
    path: pathText(path),
    kind: change.kind,
    ...(withValues && before !== undefined && { before }),
    ...(withValues && after !== undefined && { after }),
  };
}
