import { AppError, type Issue } from '../lib/errors.js';
import { normalizeDefinition } from './definition/normalize.js';
import { definitionIssues } from './definition/parse.js';
import type { DefinitionPatch } from './definition/patch.js';
import type { StoredKey } from './key.js';

/** Tags to add to those that a key has, and to remove from them. */
export interface TagChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** The arguments of a bulk change that are about tags. */
interface TagArguments {
  readonly addTags?: readonly string[] | null | undefined;
  readonly removeTags?: readonly string[] | null | undefined;
}

/**
 * Returns the change of the tags; undefined if there is none.
 *
 * @throws {AppError} INVALID when a tag is not valid, one is both added and removed, or the patch replaces the tags.
 */
export function tagChangeOf({ addTags, removeTags }: TagArguments, patch: DefinitionPatch): TagChange | undefined {
  const sent = { addTags: addTags ?? [], removeTags: removeTags ?? [] };
  if (sent.addTags.length + sent.removeTags.length === 0) return undefined;
  const issues = Object.entries(sent).flatMap(([argument, tags]) => tagIssues(argument, tags));
  const [add, remove] = issues.length > 0 ? [[], []] : [trimmed(sent.addTags), trimmed(sent.removeTags)];
  for (const [index, tag] of remove.entries()) {
    if (!add.includes(tag)) continue;
    issues.push({ path: ['removeTags', index], code: 'MALFORMED_ARGUMENT', message: 'must not be in `addTags` too' });
  }
  if (patch['tags'] !== undefined) {
    const message = 'must be omitted with `addTags` or `removeTags`: it replaces all tags';
    issues.push({ path: ['patch', 'tags'], code: 'MALFORMED_ARGUMENT', message });
  }
  if (issues.length > 0) throw new AppError('INVALID', 'The tags are not valid.', { issues });
  return { add, remove };
}

/** The problems of tags by the rules of the definition, with the paths of an argument. */
function tagIssues(argument: string, tags: readonly string[]): Issue[] {
  return definitionIssues('patch', { tags }).map((issue) => ({ ...issue, path: [argument, ...issue.path.slice(1)] }));
}

function trimmed(tags: readonly string[]): readonly string[] {
  return normalizeDefinition({ tags: [...tags] }).definition.tags ?? [];
}

/** The patch for one key: its tags with the change, after those that it has. */
export function patchWithTags(
  { definition: { tags = [] } }: StoredKey,
  patch: DefinitionPatch,
  change: TagChange | undefined,
): DefinitionPatch {
  if (!change) return patch;
  const kept = tags.filter((tag) => !change.remove.includes(tag));
  const next = [...new Set([...kept, ...change.add])];
  return { ...patch, tags: next.length > 0 ? next : null };
}
