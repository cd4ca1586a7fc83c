import type { JSONSchema } from '../json-schema.js';
import type { Route } from '../routes.js';
import type { Example } from './example.js';
import { examples } from './examples.js';

type Operation = Route['operation'];

/** The parameters of an operation, each with the values that the examples give it. */
export function parameterExamples(operation: Operation, parameters: readonly JSONSchema[]): JSONSchema[] {
  return parameters.map((parameter) => {
    const name = String(parameter['name']);
    const found = collect(operation, ({ summary, parameters }) => {
      const value = parameters?.[name];
      return value === undefined ? undefined : { summary, value };
    });
    return { ...parameter, ...(found && { examples: found }) };
  });
}

/** The bodies that the examples send; undefined where none sends any. */
export function bodyExamples(operation: Operation): JSONSchema | undefined {
  return collect(operation, ({ summary, body }) => (body === undefined ? undefined : documented(summary, body)));
}

/** What examples are answered with a status; undefined where none is. */
export function answerExamples(operation: Operation, wanted: number): JSONSchema | undefined {
  return collect(operation, ({ summary, status, answer }) =>
    status === wanted ? documented(summary, answer) : undefined,
  );
}

/** The entity tags that answers come with. */
export function etagsOf(operation: Operation): JSONSchema | undefined {
  return collect(operation, ({ summary, etag }) => (etag === undefined ? undefined : { summary, value: etag }));
}

/** An example as the document shows it. */
export function documented(summary: string, json: string): JSONSchema {
  return { summary, value: JSON.parse(json) as unknown };
}

/** One entry for each example that has one, by its name. */
function collect(operation: Operation, entryOf: (example: Example) => JSONSchema | undefined): JSONSchema | undefined {
  const entries = Object.entries(examples[operation]).flatMap(([name, example]) => {
    const entry = entryOf(example);
    return entry ? [[name, entry] as const] : [];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
