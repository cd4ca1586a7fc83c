import type { ExecutionResult, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Logger } from '../../lib/log.js';
import type { Context, ServerContext } from '../context.js';
import { limitResponseSize } from '../execution/response-size.js';
import { maskedCause, maskError } from '../errors.js';

/** Processes every result last: masks and logs errors that are not public, and limits the size. */
export function useMaskedErrors(log: Logger, nextSlice: Context['nextSlice']): Plugin<object, ServerContext> {
  return {
    async onResultProcess(event) {
      const { result, serverContext } = event;
      if (!isResult(result)) return;
      event.setResult(await maskResult(result, serverContext.requestContext.id, log, nextSlice));
    },
  };
}

/** Whether a result is of one operation, and not a stream or a batch. */
export function isResult(result: unknown): result is ExecutionResult {
  return typeof result === 'object' && result !== null && !(Symbol.asyncIterator in result) && !Array.isArray(result);
}

/**
 * Returns the result for the client: masks and logs errors that are not public, and limits the size. Waits for a time
 * slice between the steps, and before the result can be stringified: a result may have a thousand errors, and data of 2
 * MiB takes tens of milliseconds.
 */
export async function maskResult(
  result: ExecutionResult,
  requestID: string,
  log: Logger,
  nextSlice: Context['nextSlice'],
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
  const limited = await limitResponseSize(thrown ? { ...result, errors: shown } : result, requestID, nextSlice);
  await nextSlice();
  return withJSONFieldErrors(limited);
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
