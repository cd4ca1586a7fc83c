import {
  getNamedType,
  isRequiredArgument,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type GraphQLInputType,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type * as z from 'zod';
import type { AuthContext } from '../../credentials/credential.js';
import { AppError, type Issue } from '../../lib/errors.js';
import type { Variant } from '../../keys/definition/schema.js';
import { inputs, definitionIssues } from '../../keys/definition/parse.js';
import { invalidDefinition } from '../../keys/definition/issues.js';
import { maxIssues } from '../../keys/definition/field-rules.js';
import { unwrapSchema, memberOf, shapeOf, traitsOf } from '../../keys/definition/introspection.js';
import type { AuditLog } from '../../keys/ports.js';
import { auditRejectedOperation } from '../audit.js';
import type { Context, ServerContext } from '../context.js';
import { operationError, toAppError } from '../errors.js';
import { definitionPathText } from '../path-text.js';
import { inputIssues } from '../schema/input-issues.js';
import { valueOfLiteral } from '../schema/literals.js';
import { servedSchema } from '../schema/served.js';
import { isResult } from './use-masked-errors.js';
import { requirePrincipals, rootFieldsOf, type RequestedOperation, type RootFields } from '../execution/root-fields.js';

/**
 * Replaces the errors of an operation that was rejected before it was executed: UNAUTHENTICATED without the credential,
 * else all issues of its definitions. Writes rejected mutations to the audit log.
 */
export function useValidationErrors(
  audit: AuditLog,
  nextSlice: Context['nextSlice'],
): Plugin<{ document?: DocumentNode }, ServerContext> {
  return {
    onValidate: ({ params, extendContext }) => extendContext({ document: params.documentAST as DocumentNode }),
    async onExecutionResult(event) {
      const { result, context } = event;
      if (!isResult(result) || 'data' in result || !result.errors?.length) return;
      await nextSlice();
      const { requestContext, document } = context as typeof context & { document?: DocumentNode };
      const { id: requestID } = requestContext;
      const auth = await requestContext.principal();
      const operation = { ...context.params, document };
      // Without a document, the error is a syntax error or an exceeded limit, and is complete.
      const rejection = document && validationErrorOf(operation, auth);
      auditRejectedOperation(
        audit,
        servedSchema,
        operation,
        { requestID, auth },
        rejection ?? toAppError(result.errors[0]),
      );
      if (!rejection) return;
      // For clients of application/json, a rejected operation has the status 200.
      event.setResult({ errors: [operationError(rejection, rejection.code === 'INVALID' ? result.errors : [])] });
    },
  };
}

const variants: Record<string, Variant> = { PreviewKeyInput: 'preview', UpdateKeyInput: 'update' };

/**
 * The error of an operation that GraphQL rejects before it is executed: UNAUTHENTICATED or RATE_LIMITED without a credential
 * that it needs, else INVALID with every issue of the definitions and of other arguments. Undefined when the document
 * itself is not valid, for which GraphQL's own errors are more precise.
 */
function validationErrorOf(operation: RequestedOperation, auth: AuthContext): AppError | undefined {
  const requested = rootFieldsOf(servedSchema, operation);
  if (!requested) return undefined;
  const { definition } = requested;
  try {
    requirePrincipals(requested, auth);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  const defaults = Object.fromEntries(
    (definition.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueOfLiteral(defaultValue)] as const] : [],
    ),
  );
  const issues: Issue[] = [];
  let isDefinition = false;
  // Aliases may share a variable, whose value is validated once.
  const issuesByValue = new Map<unknown, readonly Issue[]>();
  for (const { name, type, value } of argumentsIn(requested, { ...defaults, ...operation.variables })) {
    if (issues.length > maxIssues) break;
    const variant = variants[getNamedType(type).name];
    if (!variant || value === null || value === undefined) issues.push(...takeIssues(inputIssues(type, value, [name])));
    else {
      isDefinition = true;
      const own = issuesByValue.get(value) ?? issuesInDefinition(variant, type, value);
      issuesByValue.set(value, own);
      issues.push(...own);
    }
  }
  if (issues.length === 0) return undefined;
  return isDefinition ? invalidDefinition(issues) : invalidArgumentsError(issues);
}

interface Argument {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly value: unknown;
}

/** Returns the arguments of all fields that have a value or require one. */
function argumentsIn({ document, definition }: RootFields, variables: Readonly<Record<string, unknown>>): Argument[] {
  const args: Argument[] = [];
  const types = new TypeInfo(servedSchema);
  const Field = (node: FieldNode) => {
    for (const argument of types.getFieldDef()?.args ?? []) {
      const { name, type } = argument;
      const argumentNode = node.arguments?.find((candidate) => candidate.name.value === name);
      const value = argumentNode && valueOfLiteral(argumentNode.value, variables);
      if (value !== undefined || isRequiredArgument(argument)) args.push({ name, type, value });
    }
  };
  for (const node of document.definitions) {
    if (node === definition || node.kind === Kind.FRAGMENT_DEFINITION) visit(node, visitWithTypeInfo(types, { Field }));
  }
  return args;
}

/** Returns the issues of the definition rules, and those that only GraphQL reports. */
function issuesInDefinition(variant: Variant, type: GraphQLInputType, value: unknown): readonly Issue[] {
  const issues = definitionIssues(variant, coerceInput(inputs[variant], value));
  const isReported = ({ path }: Issue) => issues.some((issue) => issue.path.every((step, at) => step === path[at]));
  return [...issues, ...takeIssues(inputIssues(type, value, [])).filter((issue) => !isReported(issue))];
}

function takeIssues(issues: Iterable<Issue>): Issue[] {
  const first: Issue[] = [];
  for (const issue of issues) {
    first.push(issue);
    if (first.length > maxIssues) break;
  }
  return first;
}

function invalidArgumentsError(allIssues: readonly Issue[]): AppError {
  const issues = allIssues.slice(0, maxIssues);
  const [first] = issues;
  const message =
    first && issues.length === 1
      ? `\`${definitionPathText(first.path)}\` ${first.message}.`
      : `${issues.length}${allIssues.length > maxIssues ? ' and more' : ''} values of arguments are not valid.`;
  return new AppError('INVALID', message, { issues });
}

/** Coerces as GraphQL does: integers in strings, one item for a list, safe integers for an ID. */
function coerceInput(schema: z.core.$ZodType, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  const member = memberOf(schema);
  if (member) return (Array.isArray(value) ? value : [value]).map((item) => coerceInput(member, item));
  const shape = shapeOf(schema);
  if (shape && typeof value === 'object' && !Array.isArray(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
        return [name, field ? coerceInput(field, inner) : inner];
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
