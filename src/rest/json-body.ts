import { readBody, requireJSON } from '../http/body.js';
import { AppError, pathText } from '../lib/errors.js';
import { parseJSON, type JSONValue } from '../lib/json.js';
import { parseDefinition } from '../keys/definition/parse.js';
import type { KeyDefinition, Variant } from '../keys/definition/schema.js';
import type { Warning } from '../keys/definition/warnings.js';
import type { HTTPResponse } from '../http/response.js';
import type { RouteCall } from './route.js';
import { definitionFromWire, issuesToWire } from '../wire/field-names.js';

const bodyLimitBytes = 256 * 1024;

type SlicedCall = Pick<RouteCall, 'request' | 'nextSlice'>;

/**
 * Reads the body of a request as JSON.
 *
 * @throws {AppError} INVALID or TOO_LARGE
 */
export async function readJSONBody({ request, nextSlice }: SlicedCall): Promise<JSONValue> {
  requireJSON(request);
  const text = await readBody(request, bodyLimitBytes);
  await nextSlice();
  return parseJSON(text);
}

/**
 * Reads the body of a request as JSON; undefined if there is none, which needs no content type.
 *
 * @throws {AppError} INVALID or TOO_LARGE
 */
export async function readOptionalJSONBody(call: SlicedCall): Promise<JSONValue | undefined> {
  const { headers, body } = call.request;
  if (headers.get('content-type') === null && (await body(bodyLimitBytes)).byteLength === 0) return undefined;
  return readJSONBody(call);
}

/**
 * Responds to a request with a definition in its body. Paths of issues and warnings have the field names of the body.
 * Waits for a time slice before each step, because a step takes tens of milliseconds for the largest bodies.
 *
 * @param respond - its second parameter renders warnings as `warningsMember` does
 * @throws {AppError} INVALID or TOO_LARGE, or as `respond` does
 */
export async function respondToDefinition(
  call: SlicedCall,
  variant: Variant,
  respond: (
    definition: KeyDefinition,
    renderWarnings: (warnings: readonly Warning[]) => object,
  ) => HTTPResponse | Promise<HTTPResponse>,
): Promise<HTTPResponse> {
  const { nextSlice } = call;
  const body = await readJSONBody(call);
  const work = async () => {
    await nextSlice();
    const input = definitionFromWire(body);
    await nextSlice();
    const definition = parseDefinition(variant, input);
    await nextSlice();
    return respond(definition, (warnings) => warningsMember(warnings, body));
  };
  return withWireIssuePaths(body, work, nextSlice);
}

/** Runs `work`. If it rejects with issues, renames the fields in their paths to the names in `body`. */
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

/** The `warnings` member of a response; absent when there are none. */
export function warningsMember(warnings: readonly Warning[], body: JSONValue): { warnings?: object[] } {
  if (warnings.length === 0) return {};
  return {
    warnings: issuesToWire(warnings, body).map(({ path, code, message }) => ({ path: pathText(path), code, message })),
  };
}
