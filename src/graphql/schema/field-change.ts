import { changeKinds, type ChangeKind, type FieldChange as DomainChange } from '../../keys/key.js';
import { definitionPathText } from '../path-text.js';
import { builder } from './builder.js';
import { enumValuesOf } from './types-from-zod.js';

const KeyChangeKind = builder.enumType('KeyChangeKind', {
  description: 'How a field differs between two versions.',
  values: enumValuesOf<ChangeKind>(changeKinds),
});

export const KeyFieldChange = builder.objectRef<DomainChange>('KeyFieldChange').implement({
  description: 'A field that differs between two versions of a key. Values of secrets are never returned.',
  fields: (t) => ({
    path: t.string({
      description:
        'Path of the field in the definition, as in `KeyIssue.path`. An access right is selected by its label. Example: accessRights["invoices"].limit.rate.',
      resolve: ({ path }) => definitionPathText(path),
    }),
    kind: t.expose('kind', { type: KeyChangeKind, description: 'How the field differs.' }),
    before: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The previous value. Null if there was none, and for secrets.',
      resolve: ({ before }) => before ?? null,
    }),
    after: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The new value. Null if there is none, and for secrets.',
      resolve: ({ after }) => after ?? null,
    }),
  }),
});
