import { pathText } from '../../lib/errors.js';
import { changeKinds, type ChangeKind, type FieldChange as DomainChange } from '../../keys/key.js';
import { builder } from '../schema/builder.js';
import { describedEnum } from '../schema/types-from-zod.js';

const ChangeKindType = builder.enumType('ChangeKind', {
  description: 'How a field differs.',
  values: describedEnum<ChangeKind>(changeKinds),
});

export const FieldChange = builder.objectRef<DomainChange>('FieldChange').implement({
  description: 'One field that differs between two states of a key. Values of secrets are never shown.',
  fields: (t) => ({
    path: t.string({
      description:
        'Where in the definition it is; an access right stands under its label. Example: accessRights.invoices.limit.rate.',
      resolve: ({ path }) => pathText(path),
    }),
    kind: t.expose('kind', { type: ChangeKindType, description: 'How the field differs.' }),
    before: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The value before; null where there was none, and for secrets.',
      resolve: ({ before }) => before ?? null,
    }),
    after: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The value after; null where there is none, and for secrets.',
      resolve: ({ after }) => after ?? null,
    }),
  }),
});
