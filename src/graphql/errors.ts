import { GraphQLError, type ExecutionResult, type GraphQLErrorExtensions } from 'graphql';
import { statuses } from '../http/error-response.js';
import { AppError, errorCodes, pathText } from '../lib/errors.js';
import { withoutStackTraces } from '../lib/stack-traces.js';

/** What the log is told of an error that GraphQL itself found. */
export function asAppError(error: unknown): AppError {
  const code = errorCodes.find((known) => known === publicError(error).extensions['code']);
  return new AppError(code ?? 'INTERNAL', 'The operation was refused.', { cause: error });
}

/** An error that was written for clients, which masking leaves as it is. */
class PublicError extends GraphQLError {}

/** What a client may see of an error: ours as they are, GraphQL's without the values they quote, all others masked. */
export function publicError(error: unknown): GraphQLError {
  return error instanceof PublicError ? error : withoutStackTraces(() => translated(error));
}

/** The error of a whole request, with the HTTP status that goes with it. */
export function requestError(error: AppError, status = statuses[error.code]): GraphQLError {
  return ours(error, undefined, { http: { status, headers: headersOf(error) } });
}

/** The error of an operation that is refused as a whole: for clients of application/json an answer like any other. */
export function operationError(error: AppError): GraphQLError {
  const shown = requestError(error);
  Object.assign(shown.extensions['http'] as object, { spec: true });
  return shown;
}

/** Sets the status 400 of an operation that was not executed; with application/json it has 200, like `operationError`. */
export function notExecuted({ errors = [] }: ExecutionResult): ExecutionResult {
  for (const { extensions } of errors) extensions['http'] = { status: 400, spec: true };
  return { errors };
}

/** The error that a masked one stands for, for the log; undefined where nothing was masked. */
export function maskedCause(error: GraphQLError): unknown {
  return error.extensions['code'] === 'INTERNAL' ? rootOf(error) : undefined;
}

function translated(error: unknown): GraphQLError {
  const cause = rootOf(error);
  if (cause instanceof AppError && cause.code !== 'INTERNAL') {
    // Without a path it is an error of the request, which Yoga has wrapped.
    return error instanceof GraphQLError && error.path ? ours(cause, error) : requestError(cause);
  }
  // By `unexpected` Yoga marks a value that was thrown and is no Error.
  const isValue =
    !(error instanceof Error) || (cause instanceof GraphQLError && cause.extensions['unexpected'] === true);
  if (cause instanceof GraphQLError && error instanceof GraphQLError && !isValue) {
    return new PublicError(`${variableIn(cause, error)}${withoutValues(cause.message)}`, {
      ...placeOf(error),
      extensions: { ...cause.extensions, code: 'INVALID' },
    });
  }
  return new PublicError('Internal error.', {
    ...(error instanceof GraphQLError && placeOf(error)),
    originalError: isValue ? new Error('A value that is no Error was thrown.') : error,
    extensions: { code: 'INTERNAL' },
  });
}

/** The variable whose value a scalar rejected, which only the outer error names. */
function variableIn(cause: GraphQLError, error: GraphQLError): string {
  const name = cause === error ? undefined : /^Variable "(\$\w+)" got invalid value/.exec(error.message)?.[1];
  return name === undefined ? '' : `Variable "${name}": `;
}

function ours(error: AppError, located?: GraphQLError, extensions: GraphQLErrorExtensions = {}): GraphQLError {
  const issues = error.issues.map(({ path, code, message }) => ({ path: pathText(path), code, message }));
  return new PublicError(error.message, {
    ...(located && placeOf(located)),
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

/** What was thrown in the first place. */
export function rootOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? rootOf(error.originalError) : error;
}

/** Where an error stands, for another that takes its place. */
export function placeOf({ nodes, source, positions, path }: GraphQLError) {
  return { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, path: path ?? null };
}

/**
 * GraphQL's own messages quote what was sent, and what was sent may be a secret in the wrong place. Names of the
 * schema stay; tokens and values go.
 */
function withoutValues(message: string): string {
  // A token stands in the message as it was written, quotes and line breaks included, so that only the last one ends it.
  if (message.startsWith('Syntax Error')) return message.replace(/".*"/s, '"…"');
  return message
    .replace(/(got invalid value) .*( at "[^"]*")?; .*$/s, '$1.')
    .replace(/(cannot represent [^:]*): .*$/s, '$1.')
    .replace(/(Expected value of type "[^"]+")(, found| but got:) .*$/s, '$1.')
    .replace(/ with value .*, received .*$/s, '.')
    .replace(/^(Unexpected parameter) ".*"( in the request body\.)/s, '$1$2')
    .replace(
      /^(Invalid global ID: ).*|^.* (has not been implemented|does not support loading by id)$/s,
      'The id is none of this graph.',
    )
    .replace(/^Value .* does not exist in/s, 'The value does not exist in')
    .replace(/^Enum "([^"]+)" cannot represent.*$/s, 'Enum "$1" cannot represent the value.');
}
