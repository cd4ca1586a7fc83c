import type { InputShapeFromFields } from '@pothos/core';
import { bulkLimit, type BulkRequest } from '../../keys/bulk.js';
import type { KeyDefinition } from '../../keys/definition/schema.js';
import type { KeyFilter } from '../../keys/key-query.js';
import { AppError } from '../../lib/errors.js';
import { builder } from '../schema/builder.js';
import { cursorsOf } from '../../wire/list-cursor.js';
import type { PageSizes } from '../schema/pagination.js';
import { idempotencyArgs } from '../schema/arguments.js';
import { OrgKeyFilter, toKeyFilter } from '../schema/key-filter.js';

/** The page sizes of bulk changes. */
export const bulkPageSizes: PageSizes = { defaultSize: bulkLimit, maxSize: bulkLimit };

/** The arguments of every bulk change. */
export const bulkArgs = {
  ...idempotencyArgs,
  ...builder.args((t) => ({
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
export function toBulkRequest(args: BulkArgs, patch: KeyDefinition, resetQuota: boolean): BulkRequest {
  const filter = toKeyFilter(args.filter);
  return {
    filter,
    patch,
    resetQuota,
    isDryRun: args.dryRun,
    reason: args.reason ?? undefined,
    idempotencyKey: args.idempotencyKey ?? undefined,
    page: pageOf(args, filter),
  };
}

type BulkArgs = InputShapeFromFields<typeof bulkArgs>;

/** The page of a bulk change; undefined for all matching keys. */
function pageOf({ first, after }: BulkArgs, filter: KeyFilter): BulkRequest['page'] {
  if (typeof first !== 'number' && typeof after !== 'string') return undefined;
  if (typeof first === 'number' && first < 1) {
    throw new AppError('INVALID', 'The page is not valid.', {
      issues: [{ path: ['first'], code: 'OUT_OF_RANGE', message: 'must be at least 1' }],
    });
  }
  return {
    first: first ?? bulkLimit,
    afterHash:
      typeof after === 'string' ? cursorsOf({ filter, orderBy: 'KEY_HASH' }).decode(after, 'after').keyHash : undefined,
  };
}
