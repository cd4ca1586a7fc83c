import { readBody, requireJSON } from '../body.js';
import { AppError, pathText } from '../errors.js';
import { parseJSON, type JSONValue } from '../json.js';
import type { Warning } from '../keys/warnings.js';
import { issuesToWire } from './wire.js';

const bodyLimitBytes = 256 * 1024;

/** The JSON in a request's body. Throws INVALID or TOO_LARGE. */
export async function readJSONBody(request: Request): Promise<JSONValue> {
  requireJSON(request);
  return parseJSON(await readBody(request, bodyLimitBytes));
}

/** Does what may find problems in `body`, and gives them the names of REST. */
export async function inWireNames<T>(body: JSONValue, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.issues.length === 0) throw error;
    const issues = issuesToWire(error.issues, body);
    throw new AppError(error.code, error.message, { issues, cause: error });
  }
}

/** The `warnings` member of a response, which is only there when there are any. */
export function warningsMember(warnings: readonly Warning[], body: JSONValue): { warnings?: object[] } {
  if (warnings.length === 0) return {};
  return {
    warnings: issuesToWire(warnings, body).map(({ path, code, message }) => ({ path: pathText(path), code, message })),
  };
}
