import { errorCodes, type ErrorCode, type Issue, type Path } from '../../lib/errors.js';
import { issueCodes, warningCodes, type IssueCode, type WarningCode } from '../../keys/definition/issue-codes.js';
import type { Warning as DomainWarning } from '../../keys/definition/warnings.js';
import { definitionPathText } from '../path-text.js';
import { builder, type SchemaTypes } from './builder.js';
import { enumValuesOf } from './types-from-zod.js';

const KeyIssueCode = builder.enumType('KeyIssueCode', {
  description: 'The kind of a problem, also in `extensions.issues` of an error.',
  values: enumValuesOf<IssueCode>(issueCodes),
});

/** The code of an error, also in `extensions.code`. */
export const KeyErrorCode = builder.enumType('KeyErrorCode', {
  description: 'The code of an error, also in `extensions.code`.',
  values: enumValuesOf<ErrorCode>(errorCodes),
});

export const KeyIssue = builder.objectRef<Issue>('KeyIssue').implement({
  description: 'A problem with one value.',
  fields: (t) => ({
    path: t.string({
      description:
        'Path of the value: names separated by dots; in brackets the index of a list item, the label of an access right of a stored key, or an unusual name. Example: accessRights[2].limit.quotaMax.',
      resolve: ({ path }) => definitionPathText(path),
    }),
    segments: segmentsField(t),
    code: t.field({
      type: KeyIssueCode,
      description: 'The kind of the problem, for programs. New values may be added.',
      // The domain uses no other codes, as a test verifies.
      resolve: ({ code }) => code as IssueCode,
    }),
    message: t.exposeString('message', {
      description:
        'Human-readable message, to be shown after `path`, as in "`rate` must be a number". Do not parse it.',
    }),
  }),
});

/** The segments of `path`, for programs. */
export function segmentsField<Source extends { readonly path: Path }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Source>,
) {
  return t.stringList({
    description:
      'The names, indexes and labels of `path`, in their order, as text. Empty for the value as a whole. Example: ["accessRights", "2", "limit", "quotaMax"].',
    resolve: ({ path }) => path.map(String),
  });
}

const KeyWarningCode = builder.enumType('KeyWarningCode', {
  description: 'The kind of a warning.',
  values: enumValuesOf<WarningCode>(warningCodes),
});

export const KeyWarning = builder.objectRef<DomainWarning>('KeyWarning').implement({
  description: 'A warning about a definition that is valid but may not be intended.',
  fields: (t) => ({
    path: t.string({
      description: 'Path of the field in the definition. Example: accessRights[2].limit.quotaMax.',
      resolve: ({ path }) => definitionPathText(path),
    }),
    segments: segmentsField(t),
    code: t.expose('code', {
      type: KeyWarningCode,
      description: 'The kind of the warning, for programs. New values may be added.',
    }),
    message: t.exposeString('message', {
      description: 'Human-readable message, to be shown after `path`. Do not parse it.',
    }),
  }),
});
