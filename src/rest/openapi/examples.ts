import type { RouteExample, Route } from '../route.js';
import type { JSONSchema } from './json-schema.js';

type Examples = Route['examples'];

/** The parameters of an operation, each with the values that the examples give it. */
export function parameterExamples(examples: Examples, parameters: readonly JSONSchema[]): JSONSchema[] {
  return parameters.map((parameter) => {
    const name = String(parameter['name']);
    const found = collect(examples, ({ summary, parameters }) => {
      const value = parameters?.[name];
      return value === undefined ? undefined : { summary, value };
    });
    return { ...parameter, ...(found && { examples: found }) };
  });
}

/** The bodies that the examples send; undefined where none sends any. */
export function bodyExamples(examples: Examples): JSONSchema | undefined {
  return collect(examples, ({ summary, body }) => (body === undefined ? undefined : documented(summary, body)));
}

/** What examples are answered with a status; undefined where none is. */
export function answerExamples(examples: Examples, wanted: number): JSONSchema | undefined {
  return collect(examples, ({ summary, status, response }) =>
    status === wanted ? documented(summary, response) : undefined,
  );
}

/** The entity tags that answers come with. */
export function etagsOf(examples: Examples): JSONSchema | undefined {
  return collect(examples, ({ summary, etag }) => (etag === undefined ? undefined : { summary, value: etag }));
}

/** An example as the document shows it. */
export function documented(summary: string, json: string): JSONSchema {
  return { summary, value: JSON.parse(json) as unknown };
}

/** One entry for each example that has one, by its name. */
function collect(
  examples: Examples,
  entryOf: (example: RouteExample) => JSONSchema | undefined,
): JSONSchema | undefined {
  const entries = Object.entries(examples).flatMap(([name, example]) => {
    const entry = entryOf(example);
    return entry ? [[name, entry] as const] : [];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
