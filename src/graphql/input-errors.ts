import {
  getNamedType,
  getOperationAST,
  Kind,
  parse,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import type { z } from 'zod';
import { demand, type Holder } from '../credential.js';
import { AppError, type Issue } from '../errors.js';
import type { Variant } from '../keys/definition.js';
import { inputs, readDefinition } from '../keys/definition-input.js';
import { invalidDefinition } from '../keys/issues.js';
import { core, memberOf, shapeOf, traitsOf } from '../keys/table.js';
import { valueOfLiteral } from './literal.js';

const variants: Record<string, Variant> = { PreviewKeyInput: 'preview', UpdateKeyInput: 'update' };

interface Operation {
  readonly query?: string | undefined;
  readonly operationName?: string | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The better answer for an operation that GraphQL refuses before it runs: UNAUTHENTICATED where the caller lacks a
 * credential that it needs, else INVALID with every problem of the definitions in it, as REST would answer. Undefined
 * where GraphQL's own errors say it best.
 */
export function explainRefusal(schema: GraphQLSchema, operation: Operation, holder: Holder): AppError | undefined {
  const document = parsed(operation.query);
  const definition = document && getOperationAST(document, operation.operationName);
  if (!document || !definition) return undefined;

  const root = schema.getRootType(definition.operation);
  const fields = rootFields(document, definition.selectionSet).flatMap((node) => {
    const field = root?.getFields()[node.name.value];
    return field ? [{ node, field }] : [];
  });
  try {
    for (const { field } of fields) {
      if (field.extensions.credential) demand(holder, field.extensions.credential);
    }
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  const defaults = Object.fromEntries(
    (definition.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueOfLiteral(defaultValue)] as const] : [],
    ),
  );
  const variables = { ...defaults, ...operation.variables };
  const issues = fields.flatMap(({ node, field }) => issuesIn(node, field, variables));
  return issues.length > 0 ? invalidDefinition(issues) : undefined;
}

function parsed(query: string | undefined): DocumentNode | undefined {
  try {
    return parse(query ?? '', { noLocation: true, maxTokens: 20_000 });
  } catch {
    return undefined;
  }
}

function rootFields(document: DocumentNode, { selections }: SelectionSetNode, depth = 0): FieldNode[] {
  if (depth > 8) return [];
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(document, selection.selectionSet, depth + 1);
    const fragment = document.definitions.find(
      (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value,
    );
    return fragment?.kind === Kind.FRAGMENT_DEFINITION ? rootFields(document, fragment.selectionSet, depth + 1) : [];
  });
}

function issuesIn(
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  variables: Readonly<Record<string, unknown>>,
): readonly Issue[] {
  return field.args.flatMap((argument) => {
    const variant = variants[getNamedType(argument.type).name];
    const given = node.arguments?.find(({ name }) => name.value === argument.name);
    const value = given && valueOfLiteral(given.value, variables);
    // A definition that is missing altogether is a matter of the operation, which GraphQL explains well.
    if (!variant || value === undefined || value === null) return [];
    try {
      readDefinition(variant, asGraphQLReads(inputs[variant], value));
      return [];
    } catch (error) {
      if (error instanceof AppError) return error.issues;
      throw error;
    }
  });
}

/** What GraphQL does to a value on its way in: integers in text, one item for a list, numbers as identifiers. */
function asGraphQLReads(schema: z.core.$ZodType, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  const member = memberOf(schema);
  if (member) return (Array.isArray(value) ? value : [value]).map((item) => asGraphQLReads(member, item));
  const shape = shapeOf(schema);
  if (shape && typeof value === 'object' && !Array.isArray(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
        return [name, field ? asGraphQLReads(field, inner) : inner];
      }),
    );
  }
  if (core(schema)._zod.def.type === 'bigint' && typeof value === 'string') {
    // Of more digits than 64 bits have, so that the answer is "out of range" and not "no integer".
    return /^-?\d{1,40}$/.test(value) ? BigInt(value) : value;
  }
  return traitsOf(schema).scalar === 'ID' && typeof value === 'number' && Number.isInteger(value)
    ? String(value)
    : value;
}
