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

/** An item of a page, or the error in its place. */
export interface ConnectionItem<Node> {
  readonly cursor: string;
  readonly node: Node | Error;
}

/** The edges of a page as resolvers return them. An error as `node` is thrown when the field is resolved. */
type Edge<Node> = ConnectionItem<Node> & { readonly node: Node };

/** The items of a page, and flags that replace those computed from the number of items and the arguments. */
export interface ReadPage<Node> {
  readonly items: readonly ConnectionItem<Node>[];
  readonly flags?: (shown: readonly ConnectionItem<Node>[]) => Partial<PageFlags>;
}

/** Whether items precede or follow a page. */
export interface PageFlags {
  readonly hasPreviousPage: boolean;
  readonly hasNextPage: boolean;
}

/**
 * Reads a page of a list. Every connection uses it, so that each has a maximum size. An empty page has no cursors.
 * `read` returns up to `limit` items, one more than the page; if `inverted`, the last items in reverse order.
 *
 * @throws {AppError} INVALID for `first` together with `last`, or a negative size.
 */
export async function readConnectionPage<Node>(
  args: DefaultConnectionArguments,
  read: (range: ResolveCursorConnectionArgs) => Promise<ReadPage<Node>>,
) {
  const issues = validatePageSize(args);
  if (issues.length > 0) throw new AppError('INVALID', 'The page is not valid.', { issues });
  let flags: ReadPage<Node>['flags'];
  const { edges: found, pageInfo } = await resolveCursorConnection<Promise<ConnectionItem<Node>[]>>(
    { args, ...pageSizes, toCursor: ({ cursor }) => cursor },
    async (range) => {
      const page = await read(range);
      ({ flags } = page);
      return [...page.items];
    },
  );
  const items = found.map(({ node }) => node);
  return {
    edges: items as unknown as Edge<Node>[],
    pageInfo: {
      ...pageInfo,
      startCursor: items.at(0)?.cursor ?? null,
      endCursor: items.at(-1)?.cursor ?? null,
      ...flags?.(items),
    },
  };
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

/**
 * Returns the range of a list that is read forwards only.
 *
 * @throws {AppError} INVALID for `last`, `before` or a negative size.
 */
export function forwardRange({ first, after, last, before }: DefaultConnectionArguments) {
  const backwards = Object.entries({ last, before }).flatMap(([name, value]) =>
    value === null || value === undefined
      ? []
      : [{ path: [name], code: 'MALFORMED_ARGUMENT' as const, message: 'must be omitted: the list is read forwards' }],
  );
  const issues = [...backwards, ...validatePageSize({ first })];
  if (issues.length > 0) throw new AppError('INVALID', 'The page is not valid.', { issues });
  return {
    limit: Math.min(first ?? pageSizes.defaultSize, pageSizes.maxSize),
    after: after ?? undefined,
  };
}

/**
 * Reads a page of a list that is read forwards only, as `readConnectionPage`.
 *
 * @throws {AppError} INVALID for `last`, `before` or a negative size.
 */
export function readForwardPage<Node>(
  args: DefaultConnectionArguments,
  read: (range: Pick<ResolveCursorConnectionArgs, 'after' | 'limit'>) => Promise<ReadPage<Node>>,
) {
  forwardRange(args);
  return readConnectionPage<Node>(args, read);
}

/**
 * Checks the size of a page that cannot be empty.
 *
 * @throws {AppError} INVALID when it is below 1.
 */
export function requireFirst(first: number | null | undefined): void {
  if (typeof first !== 'number' || first >= 1) return;
  throw new AppError('INVALID', 'The page is not valid.', {
    issues: [{ path: ['first'], code: 'OUT_OF_RANGE', message: 'must be at least 1' }],
  });
}
