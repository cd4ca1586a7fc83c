import { AppError, pathText, type Issue } from '../../lib/errors.js';
import {
  bulkLimit,
  type BulkItem as DomainItem,
  type BulkResult as DomainResult,
} from '../../keys/commands/bulk-update.js';
import { builder } from '../schema/builder.js';
import { callerOf } from '../context.js';
import { positionOf, cursorOf } from '../schema/cursor.js';
import { UpdateKeyInput } from '../types/key-definition.js';
import { OrgKey } from '../types/org-key.js';
import { OrgKeyFilter, filterOf } from './org-keys.js';
import { OrgKeyUpdatePreview } from '../types/mutation-payload.js';
import type { PageSizes } from '../schema/pagination.js';

const IssueType = builder.objectRef<Issue>('Issue').implement({
  description: 'A problem with one value.',
  fields: (t) => ({
    path: t.string({
      description: 'Path of the value in the definition. Example: accessRights[2].limit.quotaMax.',
      resolve: ({ path }) => pathText(path),
    }),
    code: t.exposeString('code', {
      description:
        'The kind of the problem, for programs: one of the codes in schema/README.md, such as OUT_OF_RANGE. New values may be added.',
    }),
    message: t.exposeString('message', {
      description:
        'Human-readable message, to be shown after `path`, as in "`rate` must be a number". Do not parse it.',
    }),
  }),
});

const BulkError = builder.objectRef<NonNullable<DomainItem['error']>>('BulkError').implement({
  description: 'Why the change of one key failed. After UNAVAILABLE or INTERNAL, read the key before you retry.',
  fields: (t) => ({
    code: t.exposeString('code', {
      description:
        'Error code, as for a change of that key alone: INVALID, NOT_FOUND, CONFLICT, UNAVAILABLE or INTERNAL.',
    }),
    message: t.exposeString('message', { description: 'Human-readable message. Do not parse it.' }),
    issues: t.field({
      type: [IssueType],
      description: 'All problems of the definition; empty for other errors.',
      resolve: ({ issues }) => [...issues],
    }),
  }),
});

const BulkItem = builder.objectRef<DomainItem>('BulkItem').implement({
  description: 'The outcome for one key, predicted in a dry run. Exactly one of `change` and `error` is non-null.',
  fields: (t) => ({
    orgKey: t.field({
      type: OrgKey,
      description: 'The key after the change; in a dry run, as it would be. Unchanged if there is an `error`.',
      resolve: ({ key }) => key,
    }),
    change: t.field({
      type: OrgKeyUpdatePreview,
      nullable: true,
      description: 'What changed, or would change. Null if there is an `error`.',
      resolve: ({ change }) => change,
    }),
    error: t.field({
      type: BulkError,
      nullable: true,
      description: 'Why the key was not changed. Null if there is a `change`.',
      resolve: ({ error }) => error,
    }),
  }),
});

const pages: PageSizes = { defaultSize: bulkLimit, maxSize: bulkLimit };

const BulkResult = builder.objectRef<DomainResult>('BulkResult').implement({
  description:
    'The result of a change of many keys. Each key is changed in its own transaction: a failure does not affect the others.',
  fields: (t) => ({
    dryRun: t.exposeBoolean('isDryRun', { description: 'Whether this was a dry run, which stores nothing.' }),
    items: t.field({
      type: [BulkItem],
      description: 'The outcome for each key, ordered by hash; at most 200.',
      resolve: ({ items }) => [...items],
    }),
    hasNextPage: t.exposeBoolean('hasMore', {
      description: 'Whether more keys match after these. To change them, call again with `after`.',
    }),
    endCursor: t.string({
      nullable: true,
      description: 'Cursor of the last key, for `after`. Null if no key matches.',
      resolve: ({ items }) => {
        const last = items.at(-1);
        return last && cursorOf(last.key, 'KEY_HASH');
      },
    }),
  }),
});

const bulkArgs = builder.args((t) => ({
  filter: t.field({ type: OrgKeyFilter, required: true, description: 'The keys to change.' }),
  dryRun: t.boolean({
    required: true,
    defaultValue: true,
    description: 'Whether to store nothing and only predict the outcome for each key.',
  }),
  reason: t.string({
    description: 'Reason for the change, recorded in the history. At most 500 characters, no secrets.',
  }),
  first: t.int({
    description: `Number of keys to change, at least 1; values above ${bulkLimit} are capped. If neither \`first\` nor \`after\` is given, at most ${bulkLimit} keys may match.`,
  }),
  after: t.string({ description: 'Changes only keys after this cursor: the `endCursor` of the previous call.' }),
}));

function pageOf({ first, after }: { first?: number | null | undefined; after?: string | null | undefined }) {
  if (typeof first !== 'number' && typeof after !== 'string') return undefined;
  if (typeof first === 'number' && first < 1) {
    throw new AppError('INVALID', 'The page is not valid.', {
      issues: [{ path: ['first'], code: 'OUT_OF_RANGE', message: 'must be at least 1' }],
    });
  }
  return {
    first: first ?? bulkLimit,
    afterHash: typeof after === 'string' ? positionOf(after, 'KEY_HASH', 'after').keyHash : undefined,
  };
}

builder.mutationField('updateOrgKeys', (t) =>
  t.field({
    type: BulkResult,
    description: `Changes some fields of many keys, at most ${bulkLimit} per call. A dry run unless \`dryRun\` is false. Requires a service credential. Errors: INVALID, with no key changed, if more than ${bulkLimit} keys match and no page is given. Failures of single keys are returned in \`items\`.`,
    extensions: { credential: 'service', pageSizes: pages },
    args: {
      ...bulkArgs,
      patch: t.arg({
        type: UpdateKeyInput,
        required: true,
        description: 'The fields to set. Null removes a field; omitted fields are kept.',
      }),
      resetQuota: t.arg.boolean({ defaultValue: false, description: 'Whether to reset the live quota of each key.' }),
    },
    resolve: (_, { filter, patch, resetQuota, dryRun, reason, ...page }, context) =>
      context.keys.updateOrgKeys(callerOf(context, 'service'), {
        filter: filterOf(filter),
        patch,
        resetQuota: resetQuota ?? false,
        isDryRun: dryRun,
        reason: reason ?? undefined,
        page: pageOf(page),
      }),
  }),
);

builder.mutationField('resetOrgQuotas', (t) =>
  t.field({
    type: BulkResult,
    description: `Resets the live quota of many keys, at most ${bulkLimit} per call. A dry run unless \`dryRun\` is false. Requires a service credential. Errors: those of \`updateOrgKeys\`.`,
    extensions: { credential: 'service', pageSizes: pages },
    args: bulkArgs,
    resolve: (_, { filter, dryRun, reason, ...page }, context) =>
      context.keys.updateOrgKeys(callerOf(context, 'service'), {
        filter: filterOf(filter),
        patch: {},
        resetQuota: true,
        isDryRun: dryRun,
        reason: reason ?? undefined,
        page: pageOf(page),
      }),
  }),
);
