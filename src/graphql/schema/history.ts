import { invalidCursorError, type CursorArgument } from '../../wire/list-cursor.js';
import { operations, type Actor, type KeyRevision, type Operation } from '../../keys/key.js';
import { builder } from './builder.js';
import { enumValuesOf } from './types-from-zod.js';
import { KeyFieldChange } from './definition.js';

const OperationType = builder.enumType('KeyOperation', {
  description: 'An operation that changed a key.',
  values: enumValuesOf<Operation>(operations),
});

/** Has no `id`, by which caches of clients would merge actors with different names. */
export const KeyActor = builder.objectRef<Actor>('KeyActor').implement({
  description: 'Who made a change: a person who has signed on, or a credential and the person that it names.',
  fields: (t) => ({
    credentialID: t.exposeString('credentialID', {
      description:
        'Identifier of the credential that made the change; `oidc:` and the subject for a person who has signed on; `cli` for the command line.',
    }),
    label: t.exposeString('label', {
      description:
        'Label of that credential at the time of the change, or the name of the person; for the command line, the command, such as `keyfront keys put`.',
    }),
    client: t.exposeString('client', {
      nullable: true,
      description:
        'The application by which the person has signed on, as the issuer of the token names it. Null for a credential.',
    }),
    assertedName: t.exposeString('assertedName', {
      nullable: true,
      description:
        'Whom the credential, or the user of the command line, stated to act for. The service has not verified it: show it as asserted by `label`. Null if none was stated.',
    }),
  }),
});

export const KeyHistoryEntry = builder.objectRef<KeyRevision>('KeyHistoryEntry').implement({
  description:
    'One change of a key: when, by whom, what and why. Entries are immutable; a purge removes them with the key.',
  fields: (t) => ({
    version: t.exposeInt('versionAfter', { description: 'Version of the key after the change.' }),
    at: t.field({
      type: 'KeyDateTime',
      description: 'When the change was made, by the clock of the service.',
      resolve: ({ at }) => at.toISOString(),
    }),
    operation: t.expose('operation', { type: OperationType, description: 'The operation that changed the key.' }),
    revertedTo: t.int({
      nullable: true,
      description:
        'For REVERT: the version whose definition was restored. Null for other operations, and for reverts from before it was recorded.',
      resolve: ({ revertedTo }) => revertedTo,
    }),
    actor: t.expose('actor', {
      type: KeyActor,
      description: 'Who made the change; for the change of a proposal, who proposed it.',
    }),
    proposalID: t.id({
      nullable: true,
      description: 'Identifier of the proposal that made the change. Null for a direct change.',
      resolve: ({ proposal }) => proposal?.id,
    }),
    approvedBy: t.field({
      type: KeyActor,
      nullable: true,
      description: 'Who approved the proposal. Null for a direct change, and for a proposal that needed no approval.',
      resolve: ({ proposal }) => proposal?.approvedBy,
    }),
    reason: t.string({
      nullable: true,
      description: 'The reason given for the change. Null if none was given.',
      resolve: ({ reason }) => reason,
    }),
    requestID: t.string({
      nullable: true,
      description: 'Identifier of the request, as in the log. Null for the command line.',
      resolve: ({ requestID }) => requestID || null,
    }),
    quotaUsedBeforeReset: t.field({
      type: 'Int64',
      nullable: true,
      description:
        'Requests used of the quota before the reset. Null if the change did not reset the quota, or if the counter could not be read. With counters in Redis, read just before the reset.',
      resolve: ({ quotaUsedBeforeReset }) => quotaUsedBeforeReset,
    }),
    changes: t.field({
      type: [KeyFieldChange],
      description: 'The fields that differ from the previous version; empty if none do.',
      resolve: ({ changes }) => [...changes],
    }),
  }),
});

/** @throws {AppError} INVALID when the text is not a cursor of a history. */
export function decodeVersionCursor(cursor: string, argument: CursorArgument): number {
  if (!/^\d{1,10}$/.test(cursor)) throw invalidCursorError(argument, 'must be a cursor of a history');
  return Number(cursor);
}
