import { Ajv2020 } from 'ajv/dist/2020.js';

/** A schema of the OpenAPI document, or the document itself. */
export type Schema = Readonly<Record<string, unknown>>;

const ajv = new Ajv2020({
  allErrors: true,
  // Throws for unknown keywords and formats, but permits a keyword without its `type`.
  strict: true,
  strictTypes: false,
  strictRequired: false,
  formats: { int32: true, int64: true, double: true, 'date-time': true },
});
// `mismatches` adds the components of the document, which `$ref` names, to each schema.
ajv.addVocabulary(['components']);

/**
 * Returns the differences between a value and a JSON Schema of the document, as ajv reports them.
 *
 * @throws {Error} if the schema has an unknown keyword
 */
export function mismatches(document: Schema, schema: Schema, value: unknown): string[] {
  const validate = ajv.compile({ ...schema, components: document['components'] });
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Returns the part of the document that a reference such as `#/components/schemas/Error` names. */
export function resolved(document: Schema, reference: string): Schema {
  const steps = reference.split('/').slice(1);
  const found = steps.reduce<unknown>((value, step) => (Object(value) as Schema)[step], document);
  if (typeof found !== 'object' || found === null) throw new Error(`There is nothing at ${reference}.`);
  return found as Schema;
}
