import type { InputShapeFromFields } from '@pothos/core';
import { bulkLimit, type BulkItem, type BulkRequest, type BulkResult } from '../../keys/bulk.js';
import { tagChangeOf } from '../../keys/bulk-tags.js';
import type { DefinitionPatch } from '../../keys/definition/patch.js';
import type { KeyFilter } from '../../keys/key-query.js';
import { cursorsOf } from '../../wire/list-cursor.js';
import { idempotencyArgs, reasonArgs } from './arguments.js';
import { builder } from './builder.js';
import { OrgKeyChangePreview } from './change.js';
import { PatchKeyInput } from './definition.js';
import { KeyErrorCode, KeyIssue } from './issue.js';
import { OrgKey } from './key.js';
import { OrgKeyFilter, toKeyFilter } from './key-list.js';
import { requireFirst, type PageSizes } from './pagination.js';

const KeyBulkError = builder.objectRef<NonNullable<BulkItem['error']>>('KeyBulkError').implement({
  description: 'Why the change of one key failed. After UNAVAILABLE or INTERNAL, read the key before you retry.',
  fields: (t) => ({
    code: t.expose('code', {
      type: KeyErrorCode,
      description:
        'Error code, as for a change of that key alone: INVALID, NOT_FOUND, CONFLICT, UNAVAILABLE or INTERNAL.',
    }),
    message: t.exposeString('message', { description: 'Human-readable message. Do not parse it.' }),
    issues: t.field({
      type: [KeyIssue],
      description: 'All problems of the definition; empty for other errors.',
      resolve: ({ issues }) => [...issues],
    }),
  }),
});

const KeyBulkItem = builder.objectRef<BulkItem>('KeyBulkItem').implement({
  description: 'The outcome for one key, predicted in a dry run. Exactly one of `change` and `error` is non-null.',
  fields: (t) => ({
    keyHash: t.exposeString('keyHash', { description: 'Hash of the identifier of the key, as in `OrgKey.keyHash`.' }),
    orgKey: t.field({
      type: OrgKey,
      nullable: true,
      description:
        'The key as it is stored after the call. Unchanged by a dry run, and if there is an `error`; `change` has the predicted version and definition. Null if the key cannot be read; then the `error` is INTERNAL.',
      resolve: ({ key }) => key,
    }),
    change: t.field({
      type: OrgKeyChangePreview,
      nullable: true,
      description: 'What changed, or would change. Null if there is an `error`.',
      resolve: ({ change }) => change,
    }),
    error: t.field({
      type: KeyBulkError,
      nullable: true,
      description: 'Why the key was not changed. Null if there is a `change`.',
      resolve: ({ error }) => error,
    }),
  }),
});

const KeyBulkResult = builder.objectRef<BulkResult>('KeyBulkResult').implement({
  description:
    'The result of a change of many keys. Each key is changed in its own transaction: a failure does not affect the others.',
  fields: (t) => ({
    dryRun: t.exposeBoolean('isDryRun', { description: 'Whether this was a dry run, which stores nothing.' }),
    items: t.field({
      type: [KeyBulkItem],
      description: 'The outcome for each key, ordered by hash; at most 200.',
      resolve: ({ items }) => [...items],
    }),
    hasNextPage: t.exposeBoolean('hasMore', {
      description: 'Whether more keys match after these. To change them, call again with `after`.',
    }),
    endCursor: t.string({
      nullable: true,
      description: 'Cursor of the last key, for `after`. Null if no key matches.',
      resolve: ({ items, filter }) => {
        const last = items.at(-1);
        return last && cursorsOf({ filter, orderBy: 'KEY_HASH' }).encode({ value: '', keyHash: last.keyHash });
      },
    }),
  }),
});

/** The page sizes of bulk changes. */
const bulkPageSizes: PageSizes = { defaultSize: bulkLimit, maxSize: bulkLimit };

/** The arguments of every bulk change. */
const bulkArgs = {
  ...reasonArgs,
  ...idempotencyArgs,
  ...builder.args((t) => ({
    filter: t.field({ type: OrgKeyFilter, required: true, description: 'The keys to change.' }),
    dryRun: t.boolean({
      required: true,
      defaultValue: true,
      description: 'Whether to store nothing and only predict the outcome for each key.',
    }),
    first: t.int({
      description: `Number of keys to change, at least 1; values above ${bulkLimit} are capped. If neither \`first\` nor \`after\` is given, at most ${bulkLimit} keys may match.`,
    }),
    after: t.string({
      description: 'Changes only keys after this cursor: the `endCursor` of the previous call with the same `filter`.',
    }),
  })),
};

/**
 * The request of a bulk change. The order of its members must not change: their hash identifies a repeated request.
 *
 * @throws {AppError} INVALID when `first` is below 1 or `after` is not a cursor of this list.
 */
function toBulkRequest(
  args: BulkArgs,
  patch: DefinitionPatch,
  resetQuota: boolean,
  tags?: BulkRequest['tags'],
): BulkRequest {
  const filter = toKeyFilter(args.filter);
  return {
    filter,
    patch,
    resetQuota,
    isDryRun: args.dryRun,
    reason: args.reason ?? undefined,
    idempotencyKey: args.idempotencyKey ?? undefined,
    page: pageOf(args, filter),
    tags,
  };
}

type BulkArgs = InputShapeFromFields<typeof bulkArgs>;

/** The page of a bulk change; undefined for all matching keys. */
function pageOf({ first, after }: BulkArgs, filter: KeyFilter): BulkRequest['page'] {
  if (typeof first !== 'number' && typeof after !== 'string') return undefined;
  requireFirst(first);
  return {
    first: first ?? bulkLimit,
    afterHash:
      typeof after === 'string' ? cursorsOf({ filter, orderBy: 'KEY_HASH' }).decode(after, 'after').keyHash : undefined,
  };
}

builder.mutationField('updateOrgKeys', (t) =>
  t.field({
    type: KeyBulkResult,
    nullable: true,
    description: `Changes some fields of many keys, at most ${bulkLimit} per call. A dry run unless \`dryRun\` is false. Requires a service credential. Null if an error is returned. Errors: INVALID, with no key changed, if more than ${bulkLimit} keys match and no page is given. Failures of single keys are returned in \`items\`.`,
    credential: 'service',
    extensions: { pageSizes: bulkPageSizes },
    args: {
      ...bulkArgs,
      patch: t.arg({
        type: PatchKeyInput,
        required: true,
        description: 'The fields to set. Null removes a field; omitted fields are kept.',
      }),
      addTags: t.arg.stringList({
        description:
          'Tags to add to those that each key has. Omit `tags` from the patch, which replaces all. Example: ["production"].',
      }),
      removeTags: t.arg.stringList({ description: 'Tags to remove from each key that has them.' }),
      resetQuota: t.arg.boolean({ defaultValue: false, description: 'Whether to reset the live quota of each key.' }),
    },
    resolve: (caller, { patch, resetQuota, addTags, removeTags, ...args }, { keys }) => {
      const tags = tagChangeOf({ addTags, removeTags }, patch);
      return keys.updateOrgKeys(caller, toBulkRequest(args, patch, resetQuota ?? false, tags));
    },
  }),
);

builder.mutationField('resetOrgQuotas', (t) =>
  t.field({
    type: KeyBulkResult,
    nullable: true,
    description: `Resets the live quota of many keys, at most ${bulkLimit} per call. A dry run unless \`dryRun\` is false. Requires a service credential. Null if an error is returned. Errors: those of \`updateOrgKeys\`.`,
    credential: 'service',
    extensions: { pageSizes: bulkPageSizes },
    args: bulkArgs,
    resolve: (caller, args, { keys }) => keys.updateOrgKeys(caller, toBulkRequest(args, {}, true)),
  }),
);
