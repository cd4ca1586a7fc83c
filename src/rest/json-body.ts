import { parseBody, patchContentType, readBody, requireJSON } from '../http/body.js';
import { malformedParameter } from '../http/query-parameters.js';
import { AppError, pathText } from '../lib/errors.js';
import { isObject, type JSONValue } from '../lib/json.js';
import { largeText } from '../lib/scheduler.js';
import { invalidDefinition } from '../keys/definition/issues.js';
import { parseDefinition } from '../keys/definition/parse.js';
import type { DefinitionPatch } from '../keys/definition/patch.js';
import type { KeyDefinition, Variant } from '../keys/definition/schema.js';
import type { Warning } from '../keys/definition/warnings.js';
import type { RouteCall } from './route.js';
import { definitionFromWire, issuesToWire, patchFromWire } from '../wire/field-names.js';

const bodyLimitBytes = 256 * 1024;

type StagedCall = Pick<RouteCall, 'request' | 'nextStage'>;

/**
 * Reads the body of a request as JSON.
 *
 * @throws {AppError} INVALID or TOO_LARGE
 */
async function readJSONBody(
  { request, nextStage }: StagedCall,
  contentType?: RegExp,
): Promise<{ body: JSONValue; isLarge: boolean }> {
  requireJSON(request, contentType);
  const text = await readBody(request, bodyLimitBytes);
  await nextStage();
  return { body: parseBody(text), isLarge: text.length > largeText };
}

/**
 * Reads the body of a request as JSON.
 *
 * @throws {AppError} INVALID or TOO_LARGE
 */
export async function readJSON(call: StagedCall): Promise<JSONValue> {
  return (await readJSONBody(call)).body;
}

/**
 * Reads the named members of a body that is a JSON object. Without a body, which needs no content type, there are none.
 *
 * @throws {AppError} INVALID, also for a member with another name, or TOO_LARGE
 */
export async function readOptionalMembers<Name extends string>(
  call: StagedCall,
  names: readonly Name[],
): Promise<{ readonly [Member in Name]?: JSONValue }> {
  const { headers, body } = call.request;
  if (headers.get('content-type') === null && (await body(bodyLimitBytes)).byteLength === 0) return {};
  const { body: members } = await readJSONBody(call);
  if (!isObject(members)) throw new AppError('INVALID', 'The body must be an object.');
  const unknown = Object.keys(members).find((name) => !(names as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw malformedParameter(unknown, `is not a member of the body, which may have: ${names.join(', ')}`);
  }
  return members as { readonly [Member in Name]?: JSONValue };
}

/**
 * Reads the definition in the body of a request. Each step on a large body is a stage, because it takes tens of
 * milliseconds.
 *
 * @throws {AppError} INVALID or TOO_LARGE
 */
export async function readDefinition(call: RouteCall, variant: Variant): Promise<KeyDefinition> {
  const { body, isLarge } = await readJSONBody(call);
  call.sentDefinition = body;
  if (isLarge) await call.nextStage();
  const input = definitionFromWire(body);
  if (isLarge) await call.nextStage();
  const definition = parseDefinition(variant, input);
  await call.nextStage();
  return definition;
}

/**
 * Reads the patch in the body of a request. It is validated when it is applied.
 *
 * @throws {AppError} INVALID or TOO_LARGE
 */
export async function readPatch(call: RouteCall): Promise<DefinitionPatch> {
  const { body, isLarge } = await readJSONBody(call, patchContentType);
  call.sentDefinition = body;
  if (!isObject(body)) throw invalidDefinition([{ path: [], code: 'WRONG_TYPE', message: 'must be an object' }]);
  if (isLarge) await call.nextStage();
  const patch = patchFromWire(body) as DefinitionPatch;
  await call.nextStage();
  return patch;
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
