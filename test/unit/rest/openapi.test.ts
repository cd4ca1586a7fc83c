import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorCodes } from '../../../src/lib/errors.js';
import { KeyDefinition } from '../../../src/keys/definition/schema.js';
import { issueCodes, warningCodes } from '../../../src/keys/definition/issue-codes.js';
import { openAPIDocument } from '../../../src/rest/openapi/document.js';
import { routes } from '../../../src/rest/routes.js';
import { wireName } from '../../../src/wire/field-names.js';

interface Schema {
  readonly type?: unknown;
  readonly enum?: readonly string[];
  readonly description?: string;
  readonly properties: Readonly<Record<string, Schema>>;
}

interface Operation {
  readonly operationId: string;
  readonly security: unknown;
  readonly parameters: readonly { readonly name: string }[];
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, unknown>>;
  };
}

const document = JSON.parse(JSON.stringify(openAPIDocument())) as Document;
const { schemas, responses } = document.components;

/** Every object inside a value, itself included. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

function operation(path: string, method: string): Operation {
  const found = document.paths[path]?.[method];
  if (!found) throw new Error(`The document has no ${method} ${path}.`);
  return found;
}

function propertiesOf(name: string): Readonly<Record<string, Schema>> {
  return schemas[name]?.properties ?? {};
}

function namesIn(schema: string): string[] {
  return Object.keys(propertiesOf(schema));
}

const fields = Object.keys(KeyDefinition.shape).map(wireName);
const previewOnly = ['mtls_static_certificate_bindings', 'key_id'];
const updateOnly = ['enable_detail_recording', 'enable_http_signature_validation', 'rsa_certificate_id'];

describe('the OpenAPI document', () => {
  it('equals schema/openapi.json, which npm run generate writes', () => {
    expect(JSON.parse(readFileSync('schema/openapi.json', 'utf8'))).toEqual(document);
  });

  it('references only existing components, and has no unused ones', () => {
    const references = objectsIn(document).flatMap((object) => ('$ref' in object ? [object.$ref] : []));
    const components = [
      ...Object.keys(schemas).map((name) => `#/components/schemas/${name}`),
      ...Object.keys(responses).map((name) => `#/components/responses/${name}`),
    ];
    expect(new Set(references)).toEqual(new Set(components));
  });

  it('describes every property of every schema', () => {
    const silent = Object.entries(schemas).flatMap(([name, { properties }]) =>
      Object.entries(properties)
        .filter(([, schema]) => !schema.description && !('const' in schema) && !('$ref' in schema))
        .map(([property]) => `${name}.${property}`),
    );
    expect(silent).toEqual([]);
  });

  it('uses the names of REST, in descriptions too', () => {
    const capitals = Object.entries(schemas)
      .filter(([name]) => !['Issue', 'Warning'].includes(name))
      .flatMap(([, schema]) => objectsIn(schema))
      .flatMap((object) => ('description' in object ? [String(object.description)] : []))
      .filter((text) => /`[a-z]+[A-Z]\w*`/.test(text));
    expect(capitals).toEqual([]);
    expect(propertiesOf('PreviewKeyInput')['hmac_enabled']?.description).toContain('`hmac_string`');
  });

  it('contains in each variant the fields of the definition that it has', () => {
    expect(namesIn('PreviewKeyInput')).toEqual(fields.filter((name) => !updateOnly.includes(name)));
    expect(namesIn('UpdateKeyInput').sort()).toEqual(fields.filter((name) => !previewOnly.includes(name)).sort());
    expect(propertiesOf('PreviewKeyInput')['meta_data']?.type).toBeUndefined();
    expect(propertiesOf('UpdateKeyInput')['meta_data']?.type).toEqual(['object', 'null']);
  });

  it('describes a response in normal form', () => {
    const moved = ['apply_policy_id', 'date_created', 'last_updated'];
    expect(namesIn('KeyDefinition')).toEqual(namesIn('PreviewKeyInput').filter((name) => !moved.includes(name)));
    expect(namesIn('KeyBasicAuthData')).toEqual(['hash_type', 'user']);
    expect(namesIn('KeyJwtData')).toEqual(['secret']);
    expect(JSON.stringify(schemas['KeyDefinition'])).not.toContain('"null"');
  });

  it('has every route, with its credential and the parameters of its path', () => {
    for (const { operation: name, method, path, credential } of routes) {
      const found = operation(path.replace('*', '{keyID}'), method.toLowerCase());
      expect([found.operationId, found.security]).toEqual([name, [{ [credential]: [] }]]);
      expect(found.parameters.some((parameter) => parameter.name === 'keyID')).toBe(path.includes('*'));
    }
    expect(Object.values(document.paths).flatMap(Object.keys)).toHaveLength(routes.length);
  });

  it('lists every code', () => {
    expect(propertiesOf('Error')['code']?.enum).toEqual(Object.keys(errorCodes));
    expect(propertiesOf('Issue')['code']?.enum).toEqual(Object.keys(issueCodes));
    expect(propertiesOf('Warning')['code']?.enum).toEqual(Object.keys(warningCodes));
  });
});
