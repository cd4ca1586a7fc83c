import { LineCounter, parseAllDocuments, visit, type Document } from 'yaml';
import { AppError } from '../lib/errors.js';
import { parseJSON, stringifyJSON, type JSONValue } from '../lib/json.js';

/**
 * Parses YAML 1.2 with the values of JSON. Several documents become one list.
 *
 * @throws {AppError} INVALID with the line and the column of the first problem, and without the text there
 */
export function parseYAML(text: string): JSONValue {
  const lines = new LineCounter();
  const documents = documentsIn(text, lines);
  for (const { errors, warnings } of documents) {
    const [problem] = [...errors, ...warnings];
    if (problem) throw invalidYAML(problem.code.toLowerCase().replaceAll('_', ' '), lines.linePos(problem.pos[0]));
  }
  const values = documents.map((document) => valueOf(document, lines));
  return values.length === 1 ? (values[0] ?? null) : values.flat();
}

function documentsIn(text: string, lineCounter: LineCounter): Document[] {
  try {
    const documents = parseAllDocuments(text, {
      intAsBigInt: true,
      resolveKnownTags: false,
      prettyErrors: false,
      lineCounter,
    });
    return 'empty' in documents ? [] : documents;
  } catch {
    throw invalidYAML('it is nested too deeply');
  }
}

/** Converts the document as if it was JSON, so that the same limits apply. */
function valueOf(document: Document, lines: LineCounter): JSONValue {
  visit(document, {
    Scalar: (_, { value, range }) => {
      if (typeof value !== 'number' || Number.isFinite(value)) return;
      throw invalidYAML('JSON has no such number', lines.linePos(range?.[0] ?? 0));
    },
  });
  let value: unknown;
  try {
    value = document.toJS();
  } catch {
    throw invalidYAML('it has too many aliases');
  }
  return parseJSON(stringifyJSON(value ?? null));
}

function invalidYAML(problem: string, place?: { readonly line: number; readonly col: number }): AppError {
  const where = place ? ` (line ${place.line}, column ${place.col})` : '';
  const issue = { path: [], code: 'MALFORMED_TEXT', message: `is not valid YAML: ${problem}${where}` };
  return new AppError('INVALID', 'The file is not valid YAML.', { issues: [issue] });
}
