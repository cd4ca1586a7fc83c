import { parseBody, readBody, requireJSON } from '../http/body.js';
import { AppError, pathText } from '../lib/errors.js';
import type { JSONValue } from '../lib/json.js';
import { largeText } from '../lib/scheduler.js';
import { parseDefinition } from '../keys/definition/parse.js';
import type { KeyDefinition, Variant } from '../keys/definition/schema.js';
import type { Warning } from '../keys/definition/warnings.js';
import type { RouteCall } from './route.js';
import { definitionFromWire, issuesToWire } from '../wire/field-names.js';

const bodyLimitBytes = 256 * 1024;

type SlicedCall = Pick<RouteCall, 'request' | 'nextSlice'>;

/**
 * Reads the body of a request as JSON.
 *
 * @throws {AppError} INVALID or TOO_LARGE
 */
async function readJSONBody({ request, nextSlice }: SlicedCall): Promise<{ body: JSONValue; isLarge: boolean }> {
  requireJSON(request);
  const text = await readBody(request, bodyLimitBytes);
  const isLarge = text.length > largeText;
  if (isLarge) await nextSlice();
  return { body: parseBody(text), isLarge };
}

/**
 * Reads the body of a request as JSON; undefined if there is none, which needs no content type.
 *
 * @throws {AppError} INVALID or TOO_LARGE
 */
export async function readOptionalJSONBody(call: SlicedCall): Promise<JSONValue | undefined> {
  const { headers, body } = call.request;
  if (headers.get('content-type') === null && (await body(bodyLimitBytes)).byteLength === 0) return undefined;
  return (await readJSONBody(call)).body;
}

/**
 * Reads the definition in the body of a request. Waits for a time slice before each step on a large body, which takes
 * tens of milliseconds.
 *
 * @throws {AppError} INVALID or TOO_LARGE
 */
export async function readDefinition(call: RouteCall, variant: Variant): Promise<KeyDefinition> {
  const { body, isLarge } = await readJSONBody(call);
  const nextSlice = () => (isLarge ? call.nextSlice() : undefined);
  call.sentDefinition = body;
  await nextSlice();
  const input = definitionFromWire(body);
  await nextSlice();
  const definition = parseDefinition(variant, input);
  await nextSlice();
  return definition;
}

/**
 * Returns an error whose issues have the field names of REST instead of those of the domain.
 *
 * @param sentDefinition - in the names of REST; null if there is none
 */
export function withWireNames(error: AppError, sentDefinition: JSONValue): AppError {
  if (error.issues.length === 0) return error;
  const issues = issuesToWire(error.issues, sentDefinition);
  return new AppError(error.code, error.message, { issues, cause: error });
}

/** Runs `work`. If it rejects with issues, renames the fields in their paths to the names in `body`. */
export async function withWireIssuePaths<T>(body: JSONValue, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof AppError ? withWireNames(error, body) : error;
  }
}

/** The `warnings` member of a response to a definition; absent when there are none. */
export function warningsMember(
  { sentDefinition }: Pick<RouteCall, 'sentDefinition'>,
  warnings: readonly Warning[],
): { warnings?: object[] } {
  if (warnings.length === 0) return {};
  return {
    warnings: issuesToWire(warnings, sentDefinition).map(({ path, code, message }) => ({
      path: pathText(path),
      code,
      message,
    })),
  };
}
