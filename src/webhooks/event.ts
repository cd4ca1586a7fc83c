import { createHash, randomBytes } from 'node:crypto';
import { pathText } from '../lib/errors.js';
import { stringifyJSON } from '../lib/json.js';
import type { ChangeEvent } from '../keys/change-feed.js';
import type { Actor, FieldChange, KeyRevision, Operation } from '../keys/key.js';
import type { KeyNotice } from '../keys/notices.js';
import { changedPartToWire } from '../wire/field-names.js';
import { noticeToWire, noticeTypes } from '../wire/notice.js';

/** The message of an event, equal in every attempt. */
export interface WebhookMessage {
  /** Contains no full stop, because signatures use it as a separator. */
  readonly id: string;
  readonly body: string;
}

const types: Record<Operation, string> = {
  import: 'orgKey.imported',
  create: 'orgKey.created',
  update: 'orgKey.updated',
  revert: 'orgKey.reverted',
  delete: 'orgKey.deleted',
  restore: 'orgKey.restored',
  rotate: 'orgKey.rotated',
  cancel_rotation: 'orgKey.rotationCanceled',
  retire_identifier: 'orgKey.identifierRetired',
};

/** All types of events. */
export const eventTypes: readonly string[] = [...Object.values(types), ...Object.values(noticeTypes)];

/** The type of an event; undefined for one that cannot be read. */
export function eventTypeOf({ entry, notice }: Pick<ChangeEvent, 'entry' | 'notice'>): string | undefined {
  if (notice) return noticeTypes[notice.kind];
  return entry && types[entry.operation];
}

/** Event bodies are limited, because many receivers accept less than two definitions (before and after). */
const maxBodyBytes = 64 * 1024;
const maxListedChanges = 500;

/** Creates the message of a history entry, in the names of REST. Like the history of the key, it contains no secret and no key identifier. */
export function messageOf(entry: KeyRevision): WebhookMessage {
  const { at, keyHash, orgID, operation, revertedTo, actor, proposal, reason, requestID, quotaUsedBeforeReset } = entry;
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
        ...(revertedTo !== undefined && { reverted_to: revertedTo }),
        version_before: entry.versionBefore,
        version_after: entry.versionAfter,
        actor: renderActor(actor),
        ...(proposal && {
          proposal: {
            id: proposal.id,
            ...(proposal.approvedBy && { approved_by: renderActor(proposal.approvedBy) }),
          },
        }),
        ...(reason !== undefined && { reason }),
        ...(requestID !== '' && { request_id: requestID }),
        ...(quotaUsedBeforeReset !== undefined && { quota_used_before_reset: quotaUsedBeforeReset }),
        ...changes,
      },
    });
  const body = written({ changes: entry.changes.map((change) => renderField(change, true)) });
  if (Buffer.byteLength(body) <= maxBodyBytes) return { id, body };
  const changes = entry.changes.slice(0, maxListedChanges).map((change) => renderField(change, false));
  const short = written({ changes, is_shortened: true });
  return { id, body: Buffer.byteLength(short) <= maxBodyBytes ? short : written({ changes: [], is_shortened: true }) };
}

/** Creates the message of a notice, in the names of REST. It contains no secret and no key identifier. */
export function noticeMessageOf(notice: KeyNotice): WebhookMessage {
  const { id, kind, at, keyHash, orgID } = notice;
  const data = { id, org_id: orgID, key_hash: keyHash, ...noticeToWire(notice) };
  return { id, body: stringifyJSON({ type: noticeTypes[kind], timestamp: at.toISOString(), data }) };
}

/**
 * Returns the identifier of an event, equal for all attempts. It depends on the time too, because a key that is created again
 * after a purge repeats its versions.
 */
export function eventIDOf({ keyHash, versionAfter, at, requestID }: KeyRevision): string {
  return `evt_${digestOf([keyHash, versionAfter, at.getTime(), requestID])}`;
}

/** Returns the identifier of an event whose history entry fails its integrity check. It depends on no field of the entry. */
export function unverifiedEventIDOf(keyHash: string, version: number): string {
  return `evt_unreadable_${digestOf([keyHash, version])}`;
}

function digestOf(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

/** Creates a test message without an event. */
export function pingMessage(webhookID: string, now: Date): WebhookMessage {
  const id = `ping_${randomBytes(16).toString('hex')}`;
  const body = stringifyJSON({
    type: 'webhook.ping',
    timestamp: now.toISOString(),
    data: { id, webhook_id: webhookID },
  });
  return { id, body };
}

function renderActor({ credentialID, label, client, assertedName }: Actor): object {
  return {
    credential_id: credentialID,
    label,
    ...(client !== undefined && { client }),
    ...(assertedName !== undefined && { asserted_name: assertedName }),
  };
}

function renderField(change: FieldChange, withValues: boolean): object {
  const { path, before, after } = changedPartToWire(change);
  return {
    path: pathText(path),
    kind: change.kind,
    ...(withValues && before !== undefined && { before }),
    ...(withValues && after !== undefined && { after }),
  };
}
