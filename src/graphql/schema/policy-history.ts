import { policyChangeKinds, type PolicyChangeKind, type PolicyHistoryEntry } from '../../keys/access/policy-diff.js';
import { builder } from './builder.js';
import { KeyFieldChange } from './definition.js';
import { decodeVersionCursor, KeyActor } from './history.js';
import { readConnectionPage } from './pagination.js';
import { enumValuesOf } from './types-from-zod.js';

export const KeyPolicyChangeKind = builder.enumType('KeyPolicyChangeKind', {
  description: 'How a policy changed.',
  values: enumValuesOf<PolicyChangeKind>(policyChangeKinds),
});

const KeyPolicyHistoryEntry = builder.objectRef<PolicyHistoryEntry>('KeyPolicyHistoryEntry').implement({
  description: 'One change of a policy: when, by whom and what. Entries are immutable and are never removed.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Version of the policy after the change.' }),
    at: t.field({
      type: 'KeyDateTime',
      description: 'When the change was made, by the clock of the service or of the command line.',
      resolve: ({ at }) => at.toISOString(),
    }),
    kind: t.expose('kind', { type: KeyPolicyChangeKind, description: 'What the change was.' }),
    actor: t.expose('actor', { type: KeyActor, description: 'Who made the change.' }),
    changes: t.field({
      type: [KeyFieldChange],
      description: 'The values that differ from the previous version; empty if the policy was removed.',
      resolve: ({ changes }) => [...changes],
    }),
  }),
});

builder.queryField('keyPolicyHistory', (t) =>
  t.connection(
    {
      type: KeyPolicyHistoryEntry,
      nullable: true,
      description:
        'Lists the changes of a policy, also of a removed one, oldest first: `last: 5` returns the five newest. Empty if there was no such policy. A page of large policies can have fewer items than requested. Requires a service credential that is not bound to an organization. Null if an error is returned. Errors: FORBIDDEN, INVALID if a page size or a cursor is not valid.',
      credential: 'service',
      args: { policyID: t.arg.string({ required: true, description: 'Identifier of the policy. Example: gold.' }) },
      resolve: (caller, { policyID, ...args }, { keys }) =>
        readConnectionPage<PolicyHistoryEntry>(args, async ({ before, after, limit, inverted }) => {
          const range = versionRange(before, after);
          const { entries, newest } = await keys.policyHistory(caller, policyID, { ...range, limit, last: inverted });
          const items = (inverted ? entries.toReversed() : entries).map((entry) => ({
            cursor: String(entry.version),
            node: entry,
          }));
          return {
            items,
            // Each version has one entry, so the flags are exact.
            flags: (shown) => {
              const below = inverted ? Math.min((range.before ?? Infinity) - 1, newest) : (range.after ?? 0);
              return {
                hasPreviousPage: Number(shown.at(0)?.cursor ?? below + 1) > 1,
                hasNextPage: Number(shown.at(-1)?.cursor ?? below) < newest,
              };
            },
          };
        }),
    },
    { name: 'KeyPolicyHistoryEntryConnection', description: 'A page of the history of a policy.' },
    { name: 'KeyPolicyHistoryEntryEdge', description: 'A change of a policy and its cursor.' },
  ),
);

function versionRange(before: string | undefined, after: string | undefined) {
  return {
    ...(before !== undefined && { before: decodeVersionCursor(before, 'before') }),
    ...(after !== undefined && { after: decodeVersionCursor(after, 'after') }),
  };
}
