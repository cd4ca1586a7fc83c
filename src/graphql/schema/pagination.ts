import {
  resolveCursorConnection,
  type DefaultConnectionArguments,
  type ResolveCursorConnectionArgs,
} from '@pothos/plugin-relay';
import { AppError, type Issue } from '../../lib/errors.js';

/** How many items a page has where nothing is said, and at the most. */
export interface PageSizes {
  readonly defaultSize: number;
  readonly maxSize: number;
}

/** Those of every connection. */
export const pageSizes = { defaultSize: 20, maxSize: 100 } as const satisfies PageSizes;

/**
 * A page of a list. Every connection is read through this, so that none is without bounds. Throws INVALID for a page
 * that is counted from both ends, or has fewer than no items. An empty page has no first and no last place.
 */
export async function connectionPage<Item>(
  args: DefaultConnectionArguments,
  toCursor: (item: Item) => string,
  read: (range: ResolveCursorConnectionArgs) => Promise<Item[]>,
) {
  const issues = pageSizeIssues(args);
  if (issues.length > 0) throw new AppError('INVALID', 'The page is not valid.', { issues });
  const page = await resolveCursorConnection<Promise<Item[]>>({ args, ...pageSizes, toCursor }, read);
  return page.edges.length > 0 ? page : { ...page, pageInfo: { ...page.pageInfo, startCursor: null, endCursor: null } };
}

function pageSizeIssues({ first, last }: DefaultConnectionArguments): Issue[] {
  const issues: Issue[] = Object.entries({ first, last }).flatMap(([name, size]) =>
    typeof size === 'number' && size < 0
      ? [{ path: [name], code: 'OUT_OF_RANGE' as const, message: 'must not be negative' }]
      : [],
  );
  if (typeof first === 'number' && typeof last === 'number') {
    const message = 'must not be given beside `first`: a page is counted from one end of the list';
    issues.push({ path: ['last'], code: 'MALFORMED_ARGUMENT', message });
  }
  return issues;
}
