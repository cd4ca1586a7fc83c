import type { PageInfoShape } from '@pothos/plugin-relay';

/** How many items a page has where nothing is said, and at the most. */
export interface PageSizes {
  readonly defaultSize: number;
  readonly maxSize: number;
}

/** Those of every connection. */
export const pageSizes = { defaultSize: 20, maxSize: 100 } as const satisfies PageSizes;

/** The page, which has no first and no last place where it is empty. */
export function placed<Page extends { readonly edges: readonly unknown[]; readonly pageInfo: PageInfoShape }>(
  page: Page,
) {
  return page.edges.length > 0 ? page : { ...page, pageInfo: { ...page.pageInfo, startCursor: null, endCursor: null } };
}
