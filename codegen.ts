import { writeFileSync } from 'node:fs';
import type { CodegenConfig } from '@graphql-codegen/cli';
import { printSchema } from 'graphql';
import { schema } from './src/graphql/schema/api-schema.js';
import { servedSchema } from './src/graphql/schema/served.js';
import { printSubgraph } from './src/graphql/federation/print-subgraph.js';
import { openAPIText } from './src/rest/openapi/document.js';

/** The generated types lean on one of a package, which users of ours would have to install: it is a line long. */
const decoration = `/** What a document carries for the compiler alone. */
export interface DocumentTypeDecoration<TResult, TVariables> {
  __apiType?: (variables: TVariables) => TResult;
}`;

function withoutImports(content: string): string {
  const own = content.replace(/^import type \{ DocumentTypeDecoration \} from .*;$/m, decoration);
  if (/^import /m.test(own)) throw new Error('The generated documents of the client import something else by now.');
  return own;
}

/** Prints the public contracts into `schema/`, and the typed documents of the client into `src/client/generated/`. */
const config: CodegenConfig = {
  schema: printSchema(schema),
  documents: 'test/service/graphql/*.graphql',
  importExtension: '.js',
  errorsOnly: true,
  hooks: {
    beforeOneFileWrite: (path: string, content: string) =>
      path.endsWith('client/generated/graphql.ts') ? withoutImports(content) : content,
    beforeDone: () => {
      writeFileSync('schema/openapi.json', openAPIText());
      writeFileSync('schema/subgraph.graphql', `${printSubgraph(servedSchema)}\n`);
      const withScopes = printSubgraph(servedSchema, { withScopes: true });
      writeFileSync('schema/subgraph-scopes.graphql', `${withScopes}\n`);
    },
  },
  generates: {
    'schema/schema.graphql': { plugins: ['schema-ast'], config: { sort: false } },
    'src/client/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false, persistedDocuments: { hashAlgorithm: 'sha256' } },
      config: {
        documentMode: 'string',
        enumsAsTypes: true,
        useTypeImports: true,
        strictScalars: true,
        // An Int64 takes a number or its digits, and answers a number where that is exact.
        scalars: {
          Int64: 'number | string',
          DateTime: 'string',
          JSON: 'unknown',
          JSONObject: 'Record<string, unknown>',
        },
      },
    },
  },
};

export default config;
