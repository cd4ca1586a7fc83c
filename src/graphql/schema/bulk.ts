import type { BulkItem as DomainItem, BulkResult as DomainResult } from '../../keys/bulk.js';
import { builder } from './builder.js';
import { cursorsOf } from '../../wire/list-cursor.js';
import { KeyErrorCode, KeyIssue } from './issue.js';
import { OrgKeyUpdatePreview } from './change.js';
import { OrgKey } from './key.js';

const KeyBulkError = builder.objectRef<NonNullable<DomainItem['error']>>('KeyBulkError').implement({
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

const KeyBulkItem = builder.objectRef<DomainItem>('KeyBulkItem').implement({
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
      type: OrgKeyUpdatePreview,
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

export const KeyBulkResult = builder.objectRef<DomainResult>('KeyBulkResult').implement({
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
