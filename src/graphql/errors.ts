import { GraphQLError, type ExecutionResult, type GraphQLErrorExtensions } from 'graphql';
import { statuses } from '../http/error-response.js';
import { AppError, toErrorCode } from '../lib/errors.js';
import { definitionPathText } from './path-text.js';
import { withoutStackTraces } from '../lib/stack-traces.js';

/** Converts an error of graphql-js to an AppError for the audit log. */
export function toAppError(error: unknown): AppError {
  const code = toErrorCode(maskError(error).extensions['code']);
  return new AppError(code ?? 'INTERNAL', 'The operation was rejected.', { cause: error });
}

/** An error that is safe for clients: masking leaves it unchanged. */
class PublicGraphQLError extends GraphQLError {}

/** The error for the client: an AppError unchanged, graphql-js errors without quoted values, all others masked. */
export function maskError(error: unknown): GraphQLError {
  return error instanceof PublicGraphQLError ? error : withoutStackTraces(() => translateError(error));
}

/** The error of a whole request, with its HTTP status. */
export function requestError(error: AppError, status = statuses[error.code], located?: GraphQLError): GraphQLError {
  return fromAppError(error, located, { http: { status, headers: headersOf(error) } });
}

/** Adds the header `Allow` to the response of a request's error. */
export function withAllow(error: GraphQLError, methods: string): GraphQLError {
  Object.assign(error.extensions['http'] as object, { headers: { Allow: methods } });
  return error;
}

/**
 * The error of an operation that is rejected as a whole. For clients of application/json the HTTP status is 200:
 * gateways such as Apollo's replace the body of any other status by an error of their own.
 *
 * @param rejected - the errors that this error replaces; it has their locations
 */
export function operationError(error: AppError, rejected: readonly GraphQLError[] = []): GraphQLError {
  const nodes = rejected.flatMap(({ nodes }) => nodes ?? []);
  const located = nodes.length > 0 ? new GraphQLError(error.message, { nodes }) : undefined;
  const graphqlError = requestError(error, statuses[error.code], located);
  Object.assign(graphqlError.extensions['http'] as object, { spec: true });
  return graphqlError;
}

/** The error of a result without data. The HTTP status is 200, because the operation was executed. */
export function resultError(error: AppError): GraphQLError {
  return fromAppError(error);
}

/**
 * Sets the status 400 of an operation that was not executed; with application/json it is 200, as for `operationError`.
 */
export function markNotExecuted({ errors = [] }: ExecutionResult): ExecutionResult {
  for (const { extensions } of errors) extensions['http'] = { status: 400, spec: true };
  return { errors };
}

/** The original of a masked error, for the log; undefined for an error that was not masked. */
export function maskedCause(error: GraphQLError): unknown {
  return error.extensions['code'] === 'INTERNAL' ? originalErrorOf(error) : undefined;
}

function translateError(error: unknown): GraphQLError {
  const cause = originalErrorOf(error);
  if (cause instanceof AppError && cause.code !== 'INTERNAL') {
    // An error without a path concerns the whole request; Yoga has wrapped it.
    if (error instanceof GraphQLError && error.path) return fromAppError(cause, error);
    return cause.code === 'RATE_LIMITED' ? operationError(cause) : requestError(cause);
  }
  // Yoga sets `unexpected` for a thrown value that is not an Error.
  const isNonError =
    !(error instanceof Error) || (cause instanceof GraphQLError && cause.extensions['unexpected'] === true);
  if (cause instanceof GraphQLError && error instanceof GraphQLError && !isNonError) {
    if (unknownIDMessage.test(cause.message)) return fromAppError(unknownIDError(), error);
    return new PublicGraphQLError(`${variablePrefix(cause, error)}${removeQuotedValues(cause.message)}`, {
      ...locationOf(error),
      extensions: { ...cause.extensions, code: 'INVALID' },
    });
  }
  return new PublicGraphQLError('Internal error.', {
    ...(error instanceof GraphQLError && locationOf(error)),
    originalError: isNonError ? new Error('A thrown value is not an Error.') : error,
    extensions: { code: 'INTERNAL' },
  });
}

/** The messages of the relay plugin for an unknown `id` of `Query.node`. */
const unknownIDMessage = /^Invalid global ID: |(has not been implemented|does not support loading by id)$/s;

function unknownIDError(): AppError {
  return new AppError('INVALID', 'The id is not a global identifier of this API.', {
    issues: [{ path: ['id'], code: 'MALFORMED_ARGUMENT', message: 'must be a global identifier of this API' }],
  });
}

/** Returns a prefix with the variable that a scalar rejected: only the outer error contains its name. */
function variablePrefix(cause: GraphQLError, error: GraphQLError): string {
  const name = cause === error ? undefined : /^Variable "(\$\w+)" has invalid value/.exec(error.message)?.[1];
  return name === undefined ? '' : `Variable "${name}": `;
}

function fromAppError(error: AppError, located?: GraphQLError, extensions: GraphQLErrorExtensions = {}): GraphQLError {
  const issues = error.issues.map(({ path, code, message }) => ({ path: definitionPathText(path), code, message }));
  return new PublicGraphQLError(error.message, {
    ...(located && locationOf(located)),
    extensions: {
      ...extensions,
      code: error.code,
      ...(issues.length > 0 && { issues }),
      ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
    },
  });
}

function headersOf({ retryAfterSeconds }: AppError): Record<string, string> {
  return retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
}

/** The error that was originally thrown. */
export function originalErrorOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? originalErrorOf(error.originalError) : error;
}

/** The location of an error, for an error that replaces it. */
export function locationOf({ nodes, source, positions, path }: GraphQLError) {
  return { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, path: path ?? null };
}

/**
 * Removes quoted tokens and values, which may be misplaced secrets, from messages of graphql-js. Keeps names of the
 * schema.
 */
function removeQuotedValues(message: string): string {
  // The token is quoted without escapes: it ends at the last quotation mark.
  if (message.startsWith('Syntax Error')) return message.replace(/".*"/s, '"…"');
  return message
    .replace(/(cannot represent [^:]*): .*$/s, '$1.')
    .replace(/( not to include unknown field "\w+"\. Did you mean [^?]+\?) Found: .*$/s, '$1')
    .replace(/( not to include unknown field)(?! "\w+"[,.]).*$/s, '$1.')
    .replace(
      /(Expected value of type "[^"]+"( to [^"]+("\w+")?| not to [^"]+"\w+")?)(, found:|, but | but got:) .*$/s,
      '$1.',
    )
    .replace(/ with value .*, received .*$/s, '.')
    .replace(/^(Unexpected parameter) ".*"( in the request body\.)/s, '$1$2')
    .replace(/^Value .* does not exist in/s, 'The value does not exist in')
    .replace(/^Enum "([^"]+)" cannot represent.*$/s, 'Enum "$1" cannot represent the value.');
}
