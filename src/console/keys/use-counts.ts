import { useEffect, useState } from 'preact/hooks';
import { OrgKeyCountsDocument } from '../../client/client.js';
import { formatInteger } from '../format.js';
import { useClient } from '../session.js';
import { filterOf, viewAddress, viewNames, type ViewName } from './list-address.js';

/** The number of keys in each view, in digits; null if it cannot be counted in time. */
export type Counts = Readonly<Partial<Record<ViewName, string | null>>>;

/** Counts the keys of each view with the other filters of the address, after the page is shown. */
export function useCounts(parameters: URLSearchParams, isReady: boolean): Counts {
  const client = useClient('service');
  const [counts, setCounts] = useState<Counts>({});
  const filters = Object.fromEntries(
    viewNames.map((name) => [name, filterOf(new URL(viewAddress(parameters, name), location.href).searchParams)]),
  ) as Record<ViewName, ReturnType<typeof filterOf>>;
  const serialized = JSON.stringify(filters);
  useEffect(() => setCounts({}), [serialized]);
  useEffect(() => {
    if (!isReady) return undefined;
    const controller = new AbortController();
    client.send(OrgKeyCountsDocument, filters, { signal: controller.signal }).then(
      ({ data }) =>
        setCounts(
          Object.fromEntries(
            viewNames.map((name) => {
              const total = data[name]?.totalCount;
              return [name, total == null ? null : formatInteger(total)];
            }),
          ),
        ),
      // The list shows the error of the page. Without the numbers, it is complete.
      () => undefined,
    );
    return () => controller.abort();
  }, [client, serialized, isReady]);
  return counts;
}
