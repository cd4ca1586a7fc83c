import { AppError } from '../../lib/errors.js';
import { createOrgKey } from '../create.js';
import type { ExpectedVersion, KeyChange } from '../change.js';
import { secretPaths } from '../definition/normalize.js';
import { deleteOrgKey, restoreOrgKey } from '../delete.js';
import type { Scope } from '../key.js';
import type { CallContext, Ports } from '../ports.js';
import { revertOrgKey } from '../revert.js';
import { cancelKeyRotation, rotateOrgKey } from '../rotate.js';
import { placeholderHash, updateOrgKey } from '../update.js';
import type { ChangeKind } from './proposal.js';
import type { ProposedChange, ProposedRequest } from './request.js';

/** The scope with which a caller makes such a change directly. */
export const scopeOfChange: Readonly<Record<ChangeKind, Scope>> = {
  UPDATE: 'update',
  PATCH: 'update',
  REVERT: 'update',
  ROTATE: 'update',
  CANCEL_ROTATION: 'update',
  DELETE: 'delete',
  RESTORE: 'delete',
  CREATE: 'create',
};

/** The options of a change that a proposal makes. */
interface ChangeOptions {
  readonly expectedVersion?: ExpectedVersion | undefined;
  readonly reason?: string | undefined;
}

/** Makes a change, with the domain function of its mutation. */
export async function runChange(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  { change, randomHex }: ProposedRequest,
  options: ChangeOptions,
): Promise<KeyChange> {
  const own: Ports = { ...ports, randomHex: () => randomHex };
  const noReceipt = () => undefined;
  switch (change.kind) {
    case 'UPDATE':
    case 'PATCH':
      return updateOrgKey(own, caller, keyHash, { ...change.content, ...options });
    case 'REVERT':
      return revertOrgKey(own, caller, keyHash, { ...change.content, ...options }, noReceipt);
    case 'ROTATE':
      return rotateOrgKey(own, caller, keyHash, { ...change.content, ...options }, noReceipt);
    case 'CANCEL_ROTATION':
      return cancelKeyRotation(own, caller, keyHash, options, noReceipt);
    case 'DELETE':
      return deleteOrgKey(own, caller, keyHash, options, noReceipt);
    case 'RESTORE':
      return restoreOrgKey(own, caller, keyHash, options, noReceipt);
    case 'CREATE': {
      const { reason } = options;
      const { keyID } = change.content;
      const requestedHash = keyID === undefined ? undefined : ports.hashKeyID(keyID);
      return createOrgKey(own, caller, requestedHash, { ...change.content, reason });
    }
  }
}

/**
 * Returns what the change would do now, and writes nothing. No stored secret is opened: one that is sent counts as another
 * one, and no password is hashed.
 *
 * @throws {AppError} what the change throws.
 */
export async function dryRunChange(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  request: ProposedRequest,
  options: ChangeOptions,
): Promise<KeyChange> {
  const { store, externalCounters } = ports;
  let opened = 0;
  const dry: Ports = {
    ...ports,
    hashPassword: placeholderHash,
    open: () => String((opened += 1)),
    externalCounters: externalCounters && { ...externalCounters, applyPending: () => Promise.resolve('PENDING') },
    store: { ...store, update: async (hash, change, orgID) => change(await store.find(hash, orgID)) },
  };
  // Nothing is written that a deadline could cut.
  const { deadline, ...unlimited } = caller;
  deadline?.throwIfExpired();
  return runChange(dry, unlimited, keyHash, request, options);
}

/** The request without secrets and without what was generated; undefined for a creation, which has no key to preview. */
export function withoutSecrets({ change }: ProposedRequest, randomHex: string): ProposedRequest | undefined {
  if (change.kind === 'CREATE') return undefined;
  const copy = structuredClone(change);
  for (const definition of definitionsOf(copy)) {
    for (const [name, member] of Object.values(secretPaths)) {
      const parent: unknown = member === undefined ? definition : Reflect.get(definition, name);
      const secret = member ?? name;
      // Null clears a secret, and is none.
      if (typeof parent !== 'object' || parent === null || typeof Reflect.get(parent, secret) !== 'string') continue;
      Reflect.deleteProperty(parent, secret);
      if (Object.keys(parent).length === 0 && parent !== definition) Reflect.deleteProperty(definition, name);
    }
  }
  return { change: copy, randomHex };
}

function definitionsOf(change: ProposedChange): object[] {
  if (change.kind === 'UPDATE') return [change.content.input];
  return change.kind === 'PATCH' ? [change.content.patch] : [];
}

/** Maximum size of a request with its dry run, in bytes. */
export const maxProposalBytes = 262_144;

/** @throws {AppError} INVALID when a request with its dry run is too large. */
export function requireProposalSize(bytes: number): void {
  if (bytes <= maxProposalBytes) return;
  throw new AppError('INVALID', 'The proposal is too large.', {
    issues: [
      { path: ['change'], code: 'TOO_LONG', message: `must have at most ${maxProposalBytes} bytes with its changes` },
    ],
  });
}
