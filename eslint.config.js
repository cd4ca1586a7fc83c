import eslint from '@eslint/js';
import graphql from '@graphql-eslint/eslint-plugin';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const graphqlConfig = {
  schema: 'schema/schema.graphql',
  documents: 'test/service/graphql/*.graphql',
  include: ['schema/schema.graphql', 'test/service/graphql/*.graphql'],
};
const graphqlLanguage = {
  plugins: { '@graphql-eslint': graphql },
  languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: graphqlConfig } },
};

// At the end of a name `id` is written `ID`; every other acronym is a word like others, as in `jwtData`.
const graphqlName = { style: 'camelCase', forbiddenPatterns: [/Id(?![a-z])/, /(?!IDs?$)[A-Z]{2}/] };

const described = {
  types: true,
  DirectiveDefinition: true,
  FieldDefinition: true,
  InputValueDefinition: true,
  EnumValueDefinition: true,
};

const waitForEvents = 'Tests wait for events with a deadline, by test/support/until.ts.';

export default defineConfig(
  globalIgnores([
    ...['dist/', 'build/', 'coverage/', 'data/', 'src/client/generated/', 'src/console/generated/'],
    // Compiled in a project of its own, with the packed client, by test/system/package.test.ts.
    'docs/examples/',
  ]),
  { files: ['**/*.{js,mjs,ts,tsx}'], extends: [eslint.configs.recommended] },
  {
    ...graphqlLanguage,
    // The subgraph's schema has the same types. The linter reads it with Apollo's packages, so test/unit/graphql/schema.test.ts checks it.
    files: ['schema/schema.graphql'],
    rules: {
      ...graphql.configs['flat/schema-recommended'].rules,
      ...graphql.configs['flat/schema-relay'].rules,
      '@graphql-eslint/naming-convention': [
        'error',
        {
          ...graphql.configs['flat/schema-recommended'].rules['@graphql-eslint/naming-convention'][1],
          FieldDefinition: graphqlName,
          InputValueDefinition: graphqlName,
          InputObjectTypeDefinition: { style: 'PascalCase', requiredSuffixes: ['Input', 'Filter'] },
        },
      ],
      '@graphql-eslint/no-scalar-result-type-on-mutation': 'error',
      '@graphql-eslint/relay-edge-types': [
        'error',
        {
          // An entry of a history is read with its key, and is nothing that can be fetched by itself.
          shouldImplementNode: false,
          // Short lists that are read and written as a whole, such as tags, are no connections.
          listTypeCanWrapOnlyEdgeType: false,
        },
      ],
      '@graphql-eslint/require-description': ['error', described],
      // Only keys have an identity. Definitions, figures and answers are values, and test/unit/graphql/schema.test.ts holds that
      // whatever has an `id` is a Node.
      '@graphql-eslint/strict-id-in-types': 'off',
    },
  },
  {
    ...graphqlLanguage,
    files: ['test/service/graphql/*.graphql'],
    rules: graphql.configs['flat/operations-recommended'].rules,
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./test/tsconfig.json', './src/tsconfig.browser.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      'no-eval': 'error',
      'no-new-func': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      // A member is left out of a copy by naming it beside the rest. An underscore marks what only fills a place.
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // Of a library's own union a default branch may take what we do not name.
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    // Scripts that run as they are, on what Node offers everywhere.
    files: ['**/*.mjs'],
    languageOptions: {
      globals: Object.fromEntries(
        ['AbortSignal', 'Buffer', 'Response', 'URL', 'console', 'fetch', 'performance', 'process', 'setTimeout'].map(
          (name) => [name, 'readonly'],
        ),
      ),
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      // Matchers and JSON are untyped, stubs need nothing to wait for, and some values are printed to see what shows.
      '@typescript-eslint/no-base-to-string': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['test/{unit,service,storage}/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', { name: 'setTimeout', message: waitForEvents }],
      'no-restricted-imports': [
        'error',
        { paths: [{ name: 'node:timers/promises', importNames: ['setTimeout'], message: waitForEvents }] },
      ],
    },
  },
);
