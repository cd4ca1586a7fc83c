import { AppError } from '../lib/errors.js';

/**
 * Parses a query string without its question mark. Decodes percent-encoding once.
 *
 * @throws {AppError} INVALID with the name of a parameter that is repeated, not percent-encoded UTF-8, or contains NUL.
 */
export function parseQuery(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  if (query === '') return parameters;
  for (const parameter of query.split('&')) {
    const [rawName = '', rawValue = ''] = parameter.split(/=(.*)/s);
    const name = decodeComponent(rawName, rawName);
    if (name === '') throw malformedParameter('', 'contains a parameter without a name');
    if (parameters.has(name)) throw malformedParameter(name, 'must not be repeated');
    parameters.set(name, decodeComponent(rawValue, name));
  }
  return parameters;
}

function decodeComponent(text: string, name: string): string {
  let value: string;
  try {
    value = decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw malformedParameter(name, 'must be percent-encoded UTF-8', cause);
  }
  // SQLite functions end a text at NUL.
  if (value.includes('\0')) throw malformedParameter(name, 'must not contain NUL');
  return value;
}

/** Creates the error INVALID for a parameter, or for the whole query string when the name is empty. */
export function malformedParameter(name: string, message: string, cause?: unknown): AppError {
  return new AppError('INVALID', 'A parameter of the request is not valid.', {
    issues: [{ path: name === '' ? [] : [name], code: 'MALFORMED_ARGUMENT', message }],
    cause,
  });
}
