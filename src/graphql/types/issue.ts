import { pathText, type Issue } from '../../lib/errors.js';
import { warningCodes, type WarningCode } from '../../keys/definition/issue-codes.js';
import type { Warning as DomainWarning } from '../../keys/definition/warnings.js';
import { builder } from '../schema/builder.js';
import { enumValuesOf } from '../schema/types-from-zod.js';

export const KeyIssue = builder.objectRef<Issue>('KeyIssue').implement({
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

const KeyWarningCode = builder.enumType('KeyWarningCode', {
  description: 'The kind of a warning.',
  values: enumValuesOf<WarningCode>(warningCodes),
});

export const KeyWarning = builder.objectRef<DomainWarning>('KeyWarning').implement({
  description: 'A warning about a definition that is valid but may not be intended.',
  fields: (t) => ({
    path: t.string({
      description: 'Path of the field in the definition. Example: accessRights[2].limit.quotaMax.',
      resolve: ({ path }) => pathText(path),
    }),
    code: t.expose('code', {
      type: KeyWarningCode,
      description: 'The kind of the warning, for programs. New values may be added.',
    }),
    message: t.exposeString('message', {
      description: 'Human-readable message, to be shown after `path`. Do not parse it.',
    }),
  }),
});
