import {
  resolveCursorConnection,
  type DefaultConnectionArguments,
  type ResolveCursorConnectionArgs,
} from '@pothos/plugin-relay';
import { AppError, type Issue } from '../../lib/errors.js';

/** The default and the maximum number of items of a page. */
export interface PageSizes {
  readonly defaultSize: number;
  readonly maxSize: number;
}

/** The page sizes of every connection. */
export const pageSizes = { defaultSize: 20, maxSize: 100 } as const satisfies PageSizes;

/**
 * Reads a page of a list. Every connection uses it, so that each has a maximum size. An empty page has no cursors.
 *
 * @throws {AppError} INVALID for `first` together with `last`, or a negative size.
 */
export async function readConnectionPage<Item>(
  args: DefaultConnectionArguments,
  toCursor: (item: Item) => string,
  read: (range: ResolveCursorConnectionArgs) => Promise<Item[]>,
) {
  const issues = validatePageSize(args);
  if (issues.length > 0) throw new AppError('INVALID', 'The page is not valid.', { issues });
  const page = await resolveCursorConnection<Promise<Item[]>>({ args, ...pageSizes, toCursor }, read);
  return page.edges.length > 0 ? page : { ...page, pageInfo: { ...page.pageInfo, startCursor: null, endCursor: null } };
}

function validatePageSize({ first, last }: DefaultConnectionArguments): Issue[] {
  const issues: Issue[] = Object.entries({ first, last }).flatMap(([name, size]) =>
    typeof size === 'number' && size < 0
      ? [{ path: [name], code: 'OUT_OF_RANGE' as const, message: 'must not be negative' }]
      : [],
  );
  if (typeof first === 'number' && typeof last === 'number') {
    const message = 'must not be combined with `first`';
    issues.push({ path: ['last'], code: 'MALFORMED_ARGUMENT', message });
  }
  return issues;
}
