import type { ExecutionResult } from 'graphql';
import type { Logger } from '../lib/log.js';
import { boundedAnswer } from './answer-size.js';
import { declarePublic, maskedCause, publicError } from './errors.js';

/** A result as it may leave: its errors made public, those that were masked told to the log, its size bounded. */
export function publicResult(result: ExecutionResult, requestID: string, log: Logger): ExecutionResult {
  // Yoga drops what an aborted wait throws, such as one with a time limit of its own, and would answer nothing at all.
  const isLost = result.errors?.length === 0 && !('data' in result);
  const thrown = isLost ? [new Error('A wait was aborted.')] : result.errors;
  const errors = thrown?.map((error) => {
    const shown = publicError(error);
    const cause = maskedCause(shown);
    if (cause !== undefined) log.error({ requestID, err: cause }, 'internal error');
    shown.extensions['requestID'] = requestID;
    return shown;
  });
  const answer = boundedAnswer(errors ? { ...result, errors } : result, requestID);
  // Those of a stream are looked at once more by Yoga.
  declarePublic(answer.errors);
  return answer;
}
