import type { ComponentChildren } from 'preact';
import { Link } from '../router.js';
import { text } from '../strings.js';

interface NextPageInfo {
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
}

interface PageLinksProps {
  readonly pageInfo: NextPageInfo & {
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
  };
  /** The address of a page of the list. */
  readonly addressOf: (place: { readonly after: string } | { readonly before: string }) => string;
  /** What stands before the links, such as the number of entries. */
  readonly children?: ComponentChildren;
}

/** Links to the pages of a list before and after the present one. */
export function PageLinks({ pageInfo, addressOf, children }: PageLinksProps) {
  const { hasNextPage, hasPreviousPage, startCursor, endCursor } = pageInfo;
  return (
    <nav class="pages" aria-label={text.listPages}>
      {children}
      <div class="actions">
        {hasPreviousPage && startCursor !== null && (
          <Link class="button" to={addressOf({ before: startCursor })}>
            {text.previousPage}
          </Link>
        )}
        {hasNextPage && endCursor !== null && (
          <Link class="button" to={addressOf({ after: endCursor })}>
            {text.nextPage}
          </Link>
        )}
      </div>
    </nav>
  );
}

interface NextPageProps {
  /** Undefined until a page is read. */
  readonly pageInfo: NextPageInfo | undefined;
  readonly addressOf: PageLinksProps['addressOf'];
}

/** A link to the next page of a list that is read in one direction. Nothing on the last page. */
export function NextPage({ pageInfo, addressOf }: NextPageProps) {
  if (pageInfo?.hasNextPage !== true) return null;
  return <PageLinks pageInfo={{ ...pageInfo, hasPreviousPage: false, startCursor: null }} addressOf={addressOf} />;
}
