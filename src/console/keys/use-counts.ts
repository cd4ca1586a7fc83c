import { useEffect, useState } from 'preact/hooks';
import { OrgKeyCountDocument, OrgKeyCountsDocument } from '../../client/client.js';
import { formatInteger } from '../format.js';
import { useClient } from '../session.js';
import { filterOf, viewAddress, viewNames, viewOf, type ViewName } from './list-address.js';

/** The number of keys in each view, in digits; null if it cannot be counted in time. */
export type Counts = Readonly<Partial<Record<ViewName, string | null>>>;

type Totals = Partial<Record<ViewName, { readonly totalCount: number | string | null } | null>>;

/**
 * Counts the keys of each view with the other filters of the address, after the page is shown. With a search, only those
 * of the shown view: each number reads all names again.
 */
export function useCounts(parameters: URLSearchParams, isReady: boolean): Counts {
  const client = useClient('service');
  const [counts, setCounts] = useState<Counts>({});
  const filters = Object.fromEntries(
    viewNames.map((name) => [name, filterOf(new URL(viewAddress(parameters, name), location.href).searchParams)]),
  ) as Record<ViewName, ReturnType<typeof filterOf>>;
  const isSearch = filters.all.aliasContains !== undefined;
  const shown = isSearch ? viewOf(parameters) : undefined;
  const serialized = JSON.stringify([filters, shown]);
  useEffect(() => setCounts({}), [serialized]);
  useEffect(() => {
    if (!isReady) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const totals = async (): Promise<Totals> => {
      if (!isSearch) {
        return (await client.send(OrgKeyCountsDocument, filters, { signal })).data;
      }
      if (shown === undefined) return {};
      const { data } = await client.send(OrgKeyCountDocument, { filter: filters[shown] }, { signal });
      return { [shown]: data.orgKeys };
    };
    totals().then(
      (found) => setCounts(digitsOf(found)),
      // The list shows the error of the page. Without the numbers, it is complete.
      () => undefined,
    );
    return () => controller.abort();
  }, [client, serialized, isReady]);
  return counts;
}

function digitsOf(totals: Totals): Counts {
  return Object.fromEntries(
    Object.entries(totals).map(([name, connection]) => {
      const total = connection?.totalCount;
      return [name, total == null ? null : formatInteger(total)];
    }),
  );
}
