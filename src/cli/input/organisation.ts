import { orgIDProblem } from '../../keys/key-id.js';
import { UsageError } from '../io.js';

/**
 * Parses `--org`. Rejects an empty value, which a script passes if its variable is not set.
 *
 * @throws {UsageError} if the value is not an organisation ID
 */
export function parseOrgIDOption(org: string | boolean | undefined): string | undefined {
  if (org === undefined) return undefined;
  if (typeof org !== 'string' || org.trim() === '') throw new UsageError('--org must be the ID of an organisation.');
  const problem = orgIDProblem(org);
  if (problem !== undefined) throw new UsageError(`--org ${problem}.`);
  return org;
}
