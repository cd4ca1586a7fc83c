import { getNamedType, type FieldNode, type GraphQLField, type GraphQLSchema } from 'graphql';
import type { z } from 'zod';
import { requirePrincipal, type AuthContext } from '../../credentials/credential.js';
import { AppError, type Issue } from '../../lib/errors.js';
import type { Variant } from '../../keys/definition/schema.js';
import { inputs, problemsOf } from '../../keys/definition/parse.js';
import { invalidDefinition } from '../../keys/definition/issues.js';
import { maxIssues } from '../../keys/definition/problem.js';
import { core, memberOf, shapeOf, traitsOf } from '../../keys/definition/introspection.js';
import { valueOfLiteral } from '../schema/literals.js';
import { rootFieldsOf, type RequestedOperation } from '../operation/root-fields.js';

const variants: Record<string, Variant> = { PreviewKeyInput: 'preview', UpdateKeyInput: 'update' };

/**
 * The better answer for an operation that GraphQL refuses before it runs: UNAUTHENTICATED where the caller lacks a
 * credential that it needs, or RATE_LIMITED, else INVALID with every problem of the definitions in it, as REST would answer. Undefined
 * where GraphQL's own errors say it best.
 */
export function explainRefusal(
  schema: GraphQLSchema,
  operation: RequestedOperation,
  holder: AuthContext,
): AppError | undefined {
  const found = rootFieldsOf(schema, operation);
  if (!found) return undefined;
  const { definition, fields } = found;
  try {
    for (const { field } of fields) {
      if (field.extensions.credential) requirePrincipal(holder, field.extensions.credential);
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
  const issues: Issue[] = [];
  // Aliases may share a variable, whose value is validated once.
  const known = new Map<unknown, readonly Issue[]>();
  for (const { node, field } of fields) {
    if (issues.length <= maxIssues) issues.push(...issuesIn(node, field, variables, known));
  }
  return issues.length > 0 ? invalidDefinition(issues) : undefined;
}

function issuesIn(
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  variables: Readonly<Record<string, unknown>>,
  known: Map<unknown, readonly Issue[]>,
): readonly Issue[] {
  return field.args.flatMap((argument) => {
    const variant = variants[getNamedType(argument.type).name];
    const given = node.arguments?.find(({ name }) => name.value === argument.name);
    const value = given && valueOfLiteral(given.value, variables);
    // A definition that is missing altogether is a matter of the operation, which GraphQL explains well.
    if (!variant || value === undefined || value === null) return [];
    const issues = known.get(value) ?? problemsOf(variant, asGraphQLReads(inputs[variant], value));
    known.set(value, issues);
    return issues;
  });
}

/** What GraphQL does to a value on its way in: integers in text, one item for a list, safe integers as identifiers. */
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
  return traitsOf(schema).scalar === 'ID' && typeof value === 'number' && Number.isSafeInteger(value)
    ? String(value)
    : value;
}
