import type { Suggestions } from '../suggestions.js';
import type { FilterName } from './list-address.js';

/** What a text in the search field can mean: a filter, or one key. */
export interface Meaning {
  readonly kind: FilterName | 'id' | 'hash';
  readonly value: string;
}

const maxOfEach = 4;

/** The meanings of a text, the most probable first. */
export function meaningsOf(
  typed: string,
  { organizations, tags, policies, apis }: Omit<Suggestions, 'arePoliciesKnown'>,
): readonly Meaning[] {
  const value = typed.trim();
  if (value === '') return [];
  if (/^[0-9a-f]{64}$/i.test(value)) return [{ kind: 'hash', value: value.toLowerCase() }];
  const matching = (kind: FilterName, values: readonly string[]): Meaning[] =>
    values
      .filter((known) => known.toLowerCase().includes(value.toLowerCase()))
      .slice(0, maxOfEach)
      .map((known) => ({ kind, value: known }));
  const exactTag: Meaning[] = tags.includes(value) ? [] : [{ kind: 'tag', value }];
  return [
    { kind: 'name', value },
    ...matching('org', organizations),
    ...matching('tag', tags),
    ...matching('policy', policies),
    ...matching('api', apis),
    ...exactTag,
    { kind: 'id', value },
  ];
}
