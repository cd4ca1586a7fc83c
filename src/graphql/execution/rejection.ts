import {
  getNamedType,
  isInputObjectType,
  isRequiredArgument,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  GraphQLError,
  type ExecutionResult,
  type FieldNode,
  type GraphQLInputType,
} from 'graphql';
import type * as z from 'zod';
import type { AuthContext } from '../../credentials/credential.js';
import { AppError, type Issue, type Path } from '../../lib/errors.js';
import { inputs, definitionIssues, type InputKind } from '../../keys/definition/parse.js';
import { invalidDefinition } from '../../keys/definition/issues.js';
import { maxIssues } from '../../keys/definition/field-rules.js';
import { unwrapSchema, memberOf, shapeOf, traitsOf } from '../../keys/definition/introspection.js';
import type { AuditLog } from '../../keys/ports.js';
import { auditRejectedOperation } from '../audit.js';
import { operationError, toAppError } from '../errors.js';
import { definitionPathText } from '../path-text.js';
import { inputIssues } from '../schema/input-issues.js';
import { valueOfLiteral, withPathSegment } from '../schema/literals.js';
import { servedSchema } from '../schema/served.js';
import type { PreparedOperation } from './operation-cache.js';
import { requirePrincipals } from './root-fields.js';

/** An operation that is not executed, and why. */
export class RejectedOperation extends Error {
  readonly prepared: PreparedOperation;
  readonly errors: readonly unknown[];
  /** Whether the errors are complete, as for an exceeded limit. Others are replaced by a better one if there is one. */
  readonly isComplete: boolean;

  constructor(prepared: PreparedOperation, errors: readonly unknown[], { isComplete = false } = {}) {
    super('The operation was rejected.');
    this.prepared = prepared;
    this.errors = errors;
    this.isComplete = isComplete;
  }
}

/** The request of a rejected operation. */
interface RejectedRequest {
  readonly requestID: string;
  readonly auth: AuthContext;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Returns the errors of a rejected operation: UNAUTHENTICATED without the credential, else all issues of its definitions,
 * else those of GraphQL. Writes rejected mutations to the audit log.
 */
export function resultOfRejected(
  { prepared, errors, isComplete }: RejectedOperation,
  audit: AuditLog,
  request: RejectedRequest,
): ExecutionResult {
  const better = isComplete ? undefined : explain(prepared, request);
  auditRejectedOperation(audit, prepared, request, better ?? toAppError(errors[0]));
  if (!better) return { errors: errors as readonly GraphQLError[] };
  // For clients of application/json, a rejected operation has the status 200.
  const located = better.code === 'INVALID' ? errors.filter((error) => error instanceof GraphQLError) : [];
  return { errors: [operationError(better, located)] };
}

/**
 * Gives the response of a subscription that does not start the status of its error (400, 401, 429, …) for each media type:
 * clients of event streams discard the events of a response with such a status. By the GraphQL over HTTP draft, errors
 * of an operation have the status 200 for application/json.
 */
export function withStatusOfError(result: ExecutionResult): ExecutionResult {
  for (const { extensions } of result.errors ?? []) {
    const { http } = extensions;
    if (typeof http === 'object' && http !== null) extensions['http'] = { ...http, spec: false };
  }
  return result;
}

const inputKinds: Record<string, InputKind> = {
  PreviewKeyInput: 'preview',
  CreateKeyInput: 'update',
  UpdateKeyInput: 'update',
  PatchKeyInput: 'patch',
};

/**
 * The error of an operation that GraphQL rejects before it is executed: UNAUTHENTICATED or RATE_LIMITED without a credential
 * that it needs, else INVALID with every issue of the definitions and of other arguments. Undefined when the document
 * itself is not valid, for which GraphQL's own errors are more precise.
 */
function explain(prepared: PreparedOperation, { auth, variables }: RejectedRequest): AppError | undefined {
  try {
    requirePrincipals(prepared.rootFields, auth);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  let args: readonly Argument[];
  try {
    args = argumentsIn(prepared, { ...defaultsOf(prepared), ...variables });
  } catch (error) {
    // A number in the document that cannot be represented.
    if (error instanceof AppError) return invalidArgumentsError(error.issues);
    throw error;
  }
  const issues: Issue[] = [];
  let isDefinition = false;
  // Aliases may share a variable, whose value is validated once.
  const issuesByValue = new Map<unknown, readonly Issue[]>();
  for (const { name, type, value } of args) {
    if (issues.length > maxIssues) break;
    const definitions = [...definitionsIn(type, value, [name])];
    isDefinition ||= definitions.length > 0;
    for (const definition of definitions) {
      const own = issuesByValue.get(definition.value) ?? issuesInDefinition(definition);
      issuesByValue.set(definition.value, own);
      issues.push(...own);
    }
    // The paths of issues in a definition begin there.
    const isInDefinition = (path: Path) => definitions.some((one) => one.path.every((step, at) => step === path[at]));
    if (definitions[0]?.value === value && value !== undefined) continue;
    issues.push(...takeIssues(inputIssues(type, value, [name])).filter(({ path }) => !isInDefinition(path)));
  }
  if (issues.length === 0) return undefined;
  return isDefinition ? invalidDefinition(issues) : invalidArgumentsError(issues);
}

/** The default values of variables. @throws {AppError} as `valueOfLiteral` */
function defaultsOf({ operation }: PreparedOperation): Readonly<Record<string, unknown>> {
  const entries = (operation.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) => {
    const { value: name } = variable.name;
    return defaultValue ? [[name, withPathSegment(name, () => valueOfLiteral(defaultValue))] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** A definition in an argument. */
interface SentDefinition {
  readonly kind: InputKind;
  readonly type: GraphQLInputType;
  readonly value: unknown;
  readonly path: Path;
}

/** Yields the definitions in an argument, which is one itself, or contains some, as a change to propose does. */
function* definitionsIn(type: GraphQLInputType, value: unknown, path: Path): Generator<SentDefinition> {
  if (value === null || value === undefined) return;
  const named = getNamedType(type);
  const kind = inputKinds[named.name];
  if (kind) yield { kind, type, value, path };
  else if (isInputObjectType(named) && typeof value === 'object' && !Array.isArray(value)) {
    for (const field of Object.values(named.getFields())) {
      if (!Object.hasOwn(value, field.name)) continue;
      yield* definitionsIn(field.type, Reflect.get(value, field.name), [...path, field.name]);
    }
  }
}

interface Argument {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly value: unknown;
}

/** Returns the arguments of all fields that have a value or require one. @throws {AppError} as `valueOfLiteral` */
function argumentsIn(
  { document, operation }: PreparedOperation,
  variables: Readonly<Record<string, unknown>>,
): Argument[] {
  const args: Argument[] = [];
  const types = new TypeInfo(servedSchema);
  const Field = (node: FieldNode) => {
    for (const argument of types.getFieldDef()?.args ?? []) {
      const { name, type } = argument;
      const argumentNode = node.arguments?.find((candidate) => candidate.name.value === name);
      const read = () => argumentNode && valueOfLiteral(argumentNode.value, variables);
      // The paths of issues in a definition begin there.
      const value = inputKinds[getNamedType(type).name] ? read() : withPathSegment(name, read);
      if (value !== undefined || isRequiredArgument(argument)) args.push({ name, type, value });
    }
  };
  for (const node of document.definitions) {
    if (node === operation || node.kind === Kind.FRAGMENT_DEFINITION) visit(node, visitWithTypeInfo(types, { Field }));
  }
  return args;
}

/**
 * Returns the issues of the definition rules, and those that only GraphQL reports. A number that a gateway may have rounded
 * is IMPRECISE, whether or not it is in the range of its field: the number that the client sent is unknown.
 */
function issuesInDefinition({ kind, type, value }: SentDefinition): readonly Issue[] {
  const ofGraphQL = takeIssues(inputIssues(type, value, []));
  const imprecise = new Set(ofGraphQL.flatMap(({ code, path }) => (code === 'IMPRECISE' ? JSON.stringify(path) : [])));
  const isRangeOfRounded = ({ code, path }: Issue) => code === 'OUT_OF_RANGE' && imprecise.has(JSON.stringify(path));
  const issues = definitionIssues(kind, coerceInput(inputs[kind], value)).filter((issue) => !isRangeOfRounded(issue));
  const isReported = ({ path }: Issue) => issues.some((issue) => issue.path.every((step, at) => step === path[at]));
  return [...issues, ...ofGraphQL.filter((issue) => !isReported(issue))];
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
