import { getNamedType, type FieldNode, type GraphQLField, type GraphQLSchema } from 'graphql';
import type { z } from 'zod';
import { requirePrincipal, type AuthContext } from '../../credentials/credential.js';
import { AppError, type Issue } from '../../lib/errors.js';
import type { Variant } from '../../keys/definition/schema.js';
import { inputs, definitionIssues } from '../../keys/definition/parse.js';
import { invalidDefinition } from '../../keys/definition/issues.js';
import { maxIssues } from '../../keys/definition/field-rules.js';
import { unwrapSchema, memberOf, shapeOf, traitsOf } from '../../keys/definition/introspection.js';
import { valueOfLiteral } from '../schema/literals.js';
import { rootFieldsOf, type RequestedOperation } from '../operation/root-fields.js';

const variants: Record<string, Variant> = { PreviewKeyInput: 'preview', UpdateKeyInput: 'update' };

/**
 * The error of an operation that GraphQL rejects before it is executed: UNAUTHENTICATED or RATE_LIMITED without a credential
 * that it needs, else INVALID with every issue of the definitions in it, as in REST. Undefined when GraphQL's own errors
 * are more precise.
 */
export function describeValidationFailure(
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
    // GraphQL reports a missing definition itself.
    if (!variant || value === undefined || value === null) return [];
    const issues = known.get(value) ?? definitionIssues(variant, asGraphQLReads(inputs[variant], value));
    known.set(value, issues);
    return issues;
  });
}

/** Coerces as GraphQL does: integers in strings, one item for a list, safe integers for an ID. */
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
  if (unwrapSchema(schema)._zod.def.type === 'bigint' && typeof value === 'string') {
    // More digits than 64 bits have, so that the issue is OUT_OF_RANGE.
    return /^-?\d{1,40}$/.test(value) ? BigInt(value) : value;
  }
  return traitsOf(schema).scalar === 'ID' && typeof value === 'number' && Number.isSafeInteger(value)
    ? String(value)
    : value;
}
