import type { ExecutionResult, GraphQLError } from 'graphql';
import type { Logger } from '../../lib/log.js';
import type { Context } from '../context.js';
import { limitResponseSize } from './response-size.js';
import { maskedCause, maskError } from '../errors.js';

/** What `maskResult` needs. */
export interface MaskDeps extends Pick<Context, 'nextSlice'> {
  readonly log: Logger;
}

/**
 * Returns the result for the client: masks and logs errors that are not public, and limits the size. Waits for a time
 * slice before each error, and while it stringifies large data: a result may have a thousand errors, and data of 2 MiB
 * takes tens of milliseconds.
 */
export async function maskResult(
  { log, nextSlice }: MaskDeps,
  result: ExecutionResult,
  requestID: string,
): Promise<ExecutionResult> {
  // Yoga drops the error of an aborted wait, such as a wait with its own time limit, and would send an empty result.
  const isErrorLost = result.errors?.length === 0 && !('data' in result);
  const thrown = isErrorLost ? [new Error('A wait was aborted.')] : result.errors;
  const shown: GraphQLError[] = [];
  for (const error of thrown ?? []) {
    const slice = nextSlice();
    if (slice) await slice;
    shown.push(maskAndLog(error, requestID, log));
  }
  return withJSONFieldErrors(
    await limitResponseSize(thrown ? { ...result, errors: shown } : result, requestID, nextSlice),
  );
}

function maskAndLog(error: Error, requestID: string, log: Logger): GraphQLError {
  const shown = maskError(error);
  const cause = maskedCause(shown);
  if (cause !== undefined) log.error({ requestID, err: cause }, 'internal error');
  shown.extensions['requestID'] = requestID;
  return shown;
}

/** Replaces the errors of fields by JSON: Yoga would copy each GraphQLError, and a result may have a thousand. */
function withJSONFieldErrors(result: ExecutionResult): ExecutionResult {
  if (!result.errors) return result;
  const isOfField = ({ path, extensions }: GraphQLError) => path !== undefined && !('http' in extensions);
  const errors = result.errors.map((error) => (isOfField(error) ? (error.toJSON() as GraphQLError) : error));
  return { ...result, errors };
}
