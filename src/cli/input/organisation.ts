import { orgIDProblem } from '../../keys/key-id.js';
import { UsageError } from '../io.js';

/** The organisation that `--org` names. A script whose variable is not set passes an empty one, which is refused. */
export function parseOrganisation(org: string | boolean | undefined): string | undefined {
  if (org === undefined) return undefined;
  if (typeof org !== 'string' || org.trim() === '') throw new UsageError('--org must name an organisation.');
  const found = orgIDProblem(org);
  if (found !== undefined) throw new UsageError(`--org ${found}.`);
  return org;
}
