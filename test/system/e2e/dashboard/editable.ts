import type { DefinitionFragment, UpdateKeyInput } from 'keyfront/client';

/** The fields of a definition as a form holds them, by name. */
export type Fields = Readonly<Record<string, unknown>>;

/** Kept as it is: what stands inside is the owner's own, nulls too. */
const freeForm = ['metaData', 'oauthKeys'];
/** What the service sets itself, or takes in a preview only. */
const unsent = ['keyID', 'dateCreated', 'lastUpdated', 'mtlsStaticCertificateBindings'];

/** What was read, in the form in which it may be sent back: secrets are left out, and so stay as they are. */
export function editable(definition: DefinitionFragment): Fields {
  const entries = Object.entries(definition).filter(([name, value]) => value !== null && !unsent.includes(name));
  return Object.fromEntries(
    entries
      .filter(([name]) => !name.endsWith('Set'))
      .map(([name, value]) => [name, freeForm.includes(name) ? value : withoutNulls(value)]),
  );
}

/** What an update takes. The names and types are those of the fields that were read, or that a form has put there. */
export function inputOf(fields: Fields): UpdateKeyInput {
  return fields;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name, member]) => member !== null && !name.endsWith('Set'));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutNulls(member)]));
}

/** A field that is not what it was when the form was filled. */
export interface Difference {
  readonly field: string;
  readonly before: unknown;
  readonly theirs: unknown;
  readonly mine: unknown;
  /** Whether both have changed it, and not to the same. The user has to choose. */
  readonly isClash: boolean;
}

/** Field by field, what others have changed since the form was filled, beside what the form has there. */
export function differences(before: Fields, theirs: Fields, mine: Fields): Difference[] {
  const names = [...new Set([before, theirs, mine].flatMap((fields) => Object.keys(fields)))].toSorted();
  return names
    .filter((field) => !same(before[field], theirs[field]))
    .map((field) => ({
      field,
      before: before[field],
      theirs: theirs[field],
      mine: mine[field],
      isClash: !same(mine[field], before[field]) && !same(mine[field], theirs[field]),
    }));
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
