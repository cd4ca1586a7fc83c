import { pathText } from '../../lib/errors.js';
import { warningCodes, type WarningCode } from '../../keys/definition/issue-codes.js';
import type { Warning as DomainWarning } from '../../keys/definition/warnings.js';
import { builder } from '../schema/builder.js';

const values = Object.entries(warningCodes).map(([code, description]) => [
  code,
  { value: code as WarningCode, description },
]);

const WarningCodeType = builder.enumType('WarningCode', {
  description: 'What a definition may deserve a second look for.',
  values: Object.fromEntries(values) as Record<WarningCode, { value: WarningCode; description: string }>,
});

export const Warning = builder.objectRef<DomainWarning>('Warning').implement({
  description: 'Something to look at in a definition that is valid all the same.',
  fields: (t) => ({
    path: t.string({
      description: 'Where in the definition it is. Example: accessRights[2].limit.quotaMax.',
      resolve: ({ path }) => pathText(path),
    }),
    code: t.expose('code', { type: WarningCodeType, description: 'What it is, for programs. Values may be added.' }),
    message: t.exposeString('message', {
      description: 'What it is, for people: "`path` message" reads as a sentence.',
    }),
  }),
});
