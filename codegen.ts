import { writeFileSync } from 'node:fs';
import type { CodegenConfig } from '@graphql-codegen/cli';
import { printSchema } from 'graphql';
import { schema, servedSchema } from './src/graphql/schema.js';
import { printSubgraph } from './src/graphql/subgraph.js';
import { openAPIText } from './src/rest/openapi.js';

/** Prints the public contracts into `schema/`, and the typed documents that the tests send into `test/generated/`. */
const config: CodegenConfig = {
  schema: printSchema(schema),
  documents: 'test/graphql/*.graphql',
  importExtension: '.js',
  errorsOnly: true,
  hooks: {
    beforeDone: () => {
      writeFileSync('schema/openapi.json', openAPIText());
      writeFileSync('schema/subgraph.graphql', `${printSubgraph(servedSchema)}\n`);
    },
  },
  generates: {
    'schema/schema.graphql': { plugins: ['schema-ast'], config: { sort: false } },
    'test/generated/': {
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
