import type { RouteExample, RouteDefinition } from '../route.js';
import type { JSONSchema } from './json-schema.js';

type Examples = RouteDefinition['examples'];

/** The parameters of an operation with their values in the examples. */
export function parameterExamples(examples: Examples, parameters: readonly JSONSchema[]): JSONSchema[] {
  return parameters.map((parameter) => {
    const name = String(parameter['name']);
    const values = collect(examples, ({ summary, parameters }) => {
      const value = parameters?.[name];
      return value === undefined ? undefined : { summary, value };
    });
    return { ...parameter, ...(values && { examples: values }) };
  });
}

/** The request bodies of the examples; undefined when there are none. */
export function bodyExamples(examples: Examples): JSONSchema | undefined {
  return collect(examples, ({ summary, body }) => (body === undefined ? undefined : toExample(summary, body)));
}

/** The example responses with a status; undefined when there are none. */
export function responseExamples(examples: Examples, wanted: number): JSONSchema | undefined {
  return collect(examples, ({ summary, status, response }) =>
    status === wanted ? toExample(summary, response) : undefined,
  );
}

/** The entity tags of the example responses. */
export function etagsOf(examples: Examples): JSONSchema | undefined {
  return collect(examples, ({ summary, etag }) => (etag === undefined ? undefined : { summary, value: etag }));
}

/** Returns an example object of OpenAPI. */
export function toExample(summary: string, json: string): JSONSchema {
  return { summary, value: JSON.parse(json) as unknown };
}

/** Collects the entries of the examples that have one, by example name. */
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
