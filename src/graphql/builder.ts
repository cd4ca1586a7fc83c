import SchemaBuilder from '@pothos/core';
import ValidationPlugin from '@pothos/plugin-validation';
import type { CredentialKind } from '../credential.js';
import { invalidDefinition, issuesOf } from '../keys/issues.js';
import type { Context } from './context.js';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The credential that a root field needs. A schema with a root field that names none does not build. */
    credential?: CredentialKind;
  }
}

interface OurTypes {
  Context: Context;
  DefaultFieldNullability: false;
  Scalars: {
    Int64: { Input: bigint; Output: bigint };
    DateTime: { Input: string; Output: string };
    JSON: { Input: unknown; Output: unknown };
    JSONObject: { Input: unknown; Output: unknown };
  };
}

/** Where all types are built. The rules of a definition reach its inputs through the validation plugin. */
export const builder = new SchemaBuilder<OurTypes>({
  plugins: [ValidationPlugin],
  defaultFieldNullability: false,
  validation: {
    validationError: ({ issues }) => {
      const found = issuesOf(issues as Parameters<typeof issuesOf>[0], 'update');
      // A problem's path begins with the argument it stands in; callers know the definition, not our argument.
      return invalidDefinition(found.map((issue) => ({ ...issue, path: issue.path.slice(1) })));
    },
  },
});

/** Our types and the builder's defaults, as references to types need them. */
export type SchemaTypes = typeof builder.$inferSchemaTypes;

builder.queryType({ description: 'What can be asked. Each field says which credential it needs.' });
builder.mutationType({ description: 'What can be changed. Each field says which credential it needs.' });
