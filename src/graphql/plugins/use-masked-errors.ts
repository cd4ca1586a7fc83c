import type { ExecutionResult, GraphQLError } from 'graphql';
import type { Logger } from '../../lib/log.js';
import { limitResponseSize } from '../operation/response-size.js';
import { maskedCause, maskError } from '../errors.js';

/** The result for the client: errors that are not meant for clients are masked and logged, and the size is bounded. */
export function maskResult(result: ExecutionResult, requestID: string, log: Logger): ExecutionResult {
  // Yoga drops the error of an aborted wait, such as one with a time limit of its own, and would respond with nothing.
  const isLost = result.errors?.length === 0 && !('data' in result);
  const thrown = isLost ? [new Error('A wait was aborted.')] : result.errors;
  const errors = thrown?.map((error) => {
    const shown = maskError(error);
    const cause = maskedCause(shown);
    if (cause !== undefined) log.error({ requestID, err: cause }, 'internal error');
    shown.extensions['requestID'] = requestID;
    return shown;
  });
  return withPlainFieldErrors(limitResponseSize(errors ? { ...result, errors } : result, requestID));
}

/** The errors of fields as JSON. Yoga creates another error of each that is one, and there may be a thousand. */
function withPlainFieldErrors(result: ExecutionResult): ExecutionResult {
  if (!result.errors) return result;
  const isOfField = ({ path, extensions }: GraphQLError) => path !== undefined && !('http' in extensions);
  const errors = result.errors.map((error) => (isOfField(error) ? (error.toJSON() as GraphQLError) : error));
  return { ...result, errors };
}
