import type { ComponentChildren } from 'preact';
import { Link } from '../router.js';
import { text } from '../strings.js';

interface PageLinksProps {
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
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
