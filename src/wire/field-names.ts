import type * as z from 'zod';
import type { Issue, Path } from '../lib/errors.js';
import { isObject } from '../lib/json.js';
import type { FieldChange } from '../keys/key.js';
import { PolicyDefinition } from '../keys/access/policy-definition.js';
import type { Policy } from '../keys/access/policy.js';
import { KeyDefinition, labelField } from '../keys/definition/schema.js';
import { unwrapSchema, memberOf, shapeOf } from '../keys/definition/introspection.js';

/** Returns the name of a field in REST: `quotaRenewalRate` -> `quota_renewal_rate`, `apiID` -> `api_id`. */
export function wireName(field: string): string {
  return field.replace('ID', 'Id').replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}

/** The name of the label in REST. No member of an entry can have it, so that REST rejects a member `label`. */
const noMember = '(label)';

/** The conversion of a part of a definition. Free-form JSON stays unchanged: it has neither fields nor entries. */
interface WireForm {
  /** The fields of an object, by their names in the domain. */
  readonly fields?: ReadonlyMap<string, WireField>;
  /** The entries of a list. */
  readonly entry?: WireForm;
  /** Whether the list is an object of labels and entries in REST. */
  readonly isLabelled: boolean;
  readonly isInteger: boolean;
}

interface WireField {
  readonly field: string;
  readonly wire: string;
  readonly form: WireForm;
}

/** Computed once: inspecting the zod schema takes as long as a conversion. */
const definitionForm = formOf(KeyDefinition);
const policyForm = formOf(PolicyDefinition);

function formOf(schema: z.core.$ZodType): WireForm {
  const [shape, member] = [shapeOf(schema), memberOf(schema)];
  const entry = member && formOf(member);
  return {
    ...(shape && { fields: new Map(Object.entries(shape).map(([field, inner]) => [field, fieldOf(field, inner)])) }),
    ...(entry && { entry }),
    isLabelled: entry?.fields?.has(labelField) === true,
    isInteger: unwrapSchema(schema)._zod.def.type === 'bigint',
  };
}

function fieldOf(field: string, schema: z.core.$ZodType): WireField {
  return { field, wire: field === labelField ? noMember : wireName(field), form: formOf(schema) };
}

function fieldsIn({ fields, entry }: WireForm): WireField[] {
  if (entry) return fieldsIn(entry);
  return [...(fields?.values() ?? [])].flatMap((field) => [field, ...fieldsIn(field.form)]);
}

/** The fields of the identifiers of a key, which its history has beside its definition. */
const identifierFields = ['identifierHash', 'oldIdentifierHash', 'retiresAt'].map((field) => ({
  field,
  wire: wireName(field),
}));

const counterparts = new Map(
  [...fieldsIn(definitionForm), ...fieldsIn(policyForm), ...identifierFields].flatMap(({ field, wire }) => [
    [field, wire],
    [wire, field],
  ]),
);

/**
 * Converts a name of REST to that of the domain and vice versa; an unknown name stays. A domain name in a REST request
 * therefore becomes a REST name, which is rejected as unknown.
 */
function convertName(name: string): string {
  return counterparts.get(name) ?? name;
}

/** Converts the names in backticks of a message to those of REST. */
export function textToWire(text: string): string {
  return text.replace(/`(\w+)`/g, (_, field: string) => `\`${convertName(field)}\``);
}

/** Converts a body to the names of the domain. Invalid parts stay, so that validation reports them. */
export function definitionFromWire(body: unknown): unknown {
  return fromWire(definitionForm, body, entriesFromWire);
}

/** Converts a policy of a file to the names of the domain, as `definitionFromWire`. */
export function policyFromWire(body: unknown): unknown {
  return fromWire(policyForm, body, entriesFromWire);
}

/** Converts a policy to the form that files have, in the order of the documentation. */
export function policyToWire(policy: Policy): Record<string, unknown> {
  const governs = policy.governs.map((part) => part.toLowerCase());
  return toWire(policyForm, { ...policy, governs }) as Record<string, unknown>;
}

/** Converts the body of a patch. Its access rights stay an object of labels, in which null removes an entry. */
export function patchFromWire(body: unknown): unknown {
  return fromWire(definitionForm, body, entriesOfPatch);
}

type ConvertEntries = (entry: WireForm, value: unknown) => unknown;

function fromWire(form: WireForm, value: unknown, convertEntries: ConvertEntries): unknown {
  const { fields, entry, isLabelled } = form;
  if (fields && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([wire, member]) => {
        // `(label)` is not a name of the domain and must not become one.
        const field = wire === noMember ? wire : convertName(wire);
        const known = fields.get(field);
        return [field, known ? fromWire(known.form, member, convertEntries) : member];
      }),
    );
  }
  if (!entry) return value;
  if (isLabelled) return convertEntries(entry, value);
  return Array.isArray(value) ? value.map((item) => fromWire(entry, item, convertEntries)) : value;
}

function entriesFromWire(entry: WireForm, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  // REST accepts an object only; the domain would accept a list.
  if (!isObject(value)) return false;
  return entriesOf(value).map(([label, rights]) => {
    const fields = fromWire(entry, rights, entriesFromWire);
    return isObject(fields) ? { ...fields, label } : fields;
  });
}

function entriesOfPatch(entry: WireForm, value: unknown): unknown {
  if (value === null) return value;
  if (!isObject(value)) return false;
  return Object.fromEntries(
    Object.entries(value).map(([label, rights]) => [label, fromWire(entry, rights, entriesOfPatch)]),
  );
}

/** Returns the entries that are not null: null is the same as an absent entry. */
function entriesOf(rights: object): [string, unknown][] {
  return Object.entries(rights).filter(([, entry]) => entry !== null);
}

/** Converts the paths and messages of issues to the names of REST. `body` is the request body in the names of REST. */
export function issuesToWire(issues: readonly Issue[], body: unknown): Issue[] {
  const rights = isObject(body) ? body['access_rights'] : undefined;
  const labels = isObject(rights) ? entriesOf(rights).map(([label]) => label) : [];
  return issues.map((issue) => issueToWire(issue, labels));
}

/** @param labels - the labels of the access rights, in their order */
function issueToWire(issue: Issue, labels: readonly string[]): Issue {
  const [first, second, ...rest] = issue.path;
  const message =
    first === 'accessRights' && second === undefined && issue.code === 'WRONG_TYPE'
      ? 'must be an object of labels and their entries'
      : // `(label)` must not be suggested: it is not a field.
        textToWire(issue.message).replace(`; did you mean \`${noMember}\`?`, '');
  if (first !== 'accessRights' || typeof second !== 'number') {
    return { ...issue, path: pathToWire(issue.path), message };
  }
  const inside = rest.at(-1) === labelField ? rest.slice(0, -1) : rest;
  const path: Path = ['access_rights', labels[second] ?? second, ...pathToWire([first, second, ...inside]).slice(2)];
  return { ...issue, path, message };
}

/** Converts the names of fields in a path. Names inside free-form JSON are the client's and stay. */
function pathToWire(path: Path): Path {
  return convertPath(path).path;
}

/** Converts a path, and returns the form of the value at its end; undefined inside free-form JSON. */
function convertPath(path: Path): { path: Path; form: WireForm | undefined } {
  let at: WireForm | undefined = definitionForm;
  const renamedPath = path.map((step) => {
    const fields: WireForm['fields'] = at?.fields;
    const name = fields && typeof step === 'string' ? convertName(step) : step;
    // A step into a list is the position of an entry or its label.
    at = at?.entry ?? (typeof step === 'string' ? fields?.get(step)?.form : undefined);
    return name;
  });
  return { path: renamedPath, form: at };
}

/** Converts the path of a part of a definition, and returns the function that converts its value. */
export function partToWire(path: Path): { path: Path; valueToWire: (value: unknown) => unknown } {
  const { path: wirePath, form } = convertPath(path);
  const entry = form?.entry;
  return {
    path: wirePath,
    valueToWire: (value) => {
      if (!form || value === undefined) return value;
      if (!entry || !isObject(value)) return toWire(form, value);
      return Object.fromEntries(Object.entries(value).map(([label, rights]) => [label, toWire(entry, rights)]));
    },
  };
}

/** Converts a changed field to the names of REST, which webhooks use too. */
export function changedPartToWire({
  path,
  before,
  after,
}: FieldChange): Pick<FieldChange, 'path' | 'before' | 'after'> {
  const part = partToWire(path);
  return { path: part.path, before: part.valueToWire(before), after: part.valueToWire(after) };
}

/** Converts a definition to the names of REST, with its members in the order of the key API's document. */
export function definitionToWire(definition: object): Record<string, unknown> {
  return toWire(definitionForm, definition) as Record<string, unknown>;
}

function toWire({ fields, entry, isLabelled, isInteger }: WireForm, value: unknown): unknown {
  if (fields && isObject(value)) {
    const members: Record<string, unknown> = {};
    for (const { field, wire, form } of fields.values()) {
      const member = value[field];
      if (member !== undefined && field !== labelField) members[wire] = toWire(form, member);
    }
    return members;
  }
  if (entry && Array.isArray(value)) {
    if (!isLabelled) return value.map((item) => toWire(entry, item));
    return Object.fromEntries(value.map((right: { label: string }) => [right.label, toWire(entry, right)]));
  }
  // GraphQL returns an integer as text if a double cannot represent it.
  return isInteger && typeof value === 'string' ? BigInt(value) : value;
}
