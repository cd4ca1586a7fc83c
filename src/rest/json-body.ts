import { readBody, requireJSON } from '../http/body.js';
import { AppError, pathText } from '../lib/errors.js';
import { parseJSON, type JSONValue } from '../lib/json.js';
import { readDefinition } from '../keys/definition/parse.js';
import type { KeyDefinition, Variant } from '../keys/definition/schema.js';
import type { Warning } from '../keys/definition/warnings.js';
import type { RouteCall } from './route.js';
import { definitionFromWire, issuesToWire } from '../wire/field-names.js';

const bodyLimitBytes = 256 * 1024;

/** A request, and what divides the work on it. */
type SlicedCall = Pick<RouteCall, 'request' | 'nextSlice'>;

/**
 * The JSON in a request's body.
 * @throws {AppError} INVALID or TOO_LARGE
 */
export async function readJSONBody({ request, nextSlice }: SlicedCall): Promise<JSONValue> {
  requireJSON(request);
  const text = await readBody(request, bodyLimitBytes);
  await nextSlice();
  return parseJSON(text);
}

/**
 * The definition that a body holds. Other requests are served between the steps, each of which takes tens of milliseconds
 * for a body with as many members as it has room for.
 * @throws {AppError} INVALID with the problems it has, for `inWireNames` to name
 */
export async function readDefinitionIn(
  body: JSONValue,
  variant: Variant,
  { nextSlice }: SlicedCall,
): Promise<KeyDefinition> {
  await nextSlice();
  const named = definitionFromWire(body);
  await nextSlice();
  const definition = readDefinition(variant, named);
  await nextSlice();
  return definition;
}

/** Does what may find problems in `body`, and gives them the names of REST, in a time slice of their own if one is given. */
export async function withWireIssuePaths<T>(
  body: JSONValue,
  work: () => T | Promise<T>,
  nextSlice: RouteCall['nextSlice'] = () => undefined,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.issues.length === 0) throw error;
    await nextSlice();
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
