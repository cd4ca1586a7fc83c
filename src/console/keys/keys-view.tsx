import { useEffect, useState } from 'preact/hooks';
import {
  OrgKeyCountDocument,
  OrgKeyRowsDocument,
  type OrgKeyFilter,
  type OrgKeyOrder,
  type OrgKeyRowsQuery,
  type RowFragment,
} from '../../client/client.js';
import { formatInteger } from '../format.js';
import { Problem } from '../parts/problem.js';
import { QuietButton } from '../parts/quiet-button.js';
import { Link, navigate, useAddress } from '../router.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { required, useAction, useLoad } from '../use-load.js';
import { Bulk } from './bulk.js';
import { Filters } from './filters.js';
import { KeysTable, type SelectedKeys } from './keys-table.js';
import { filterOf, listAddress, orderOf, variablesOf } from './list-address.js';
import { useLiveRows } from './use-live-rows.js';

const noRows: readonly RowFragment[] = [];

/** The list of keys that the address names: filter, order and page. */
export function KeysView() {
  const client = useClient('service');
  const { searchParams: parameters, search } = useAddress();
  const [selection, setSelection] = useState<SelectedKeys>(new Map());
  useEffect(() => setSelection(new Map()), [search]);
  const page = useLoad(
    async (signal) => {
      const { data, errors } = await client.send(OrgKeyRowsDocument, variablesOf(parameters), { signal });
      const { edges, pageInfo } = required(data.orgKeys, errors, text.keys.empty);
      const rows = edges?.flatMap((edge) => edge?.node ?? []) ?? [];
      return { rows, damaged: (edges?.length ?? 0) - rows.length, pageInfo };
    },
    [client, search],
  );
  const [isLive, setIsLive] = useState(true);
  const [isBulk, setIsBulk] = useState(false);
  const filter = filterOf(parameters);
  const live = useLiveRows(page.data?.rows ?? noRows, filter.orgID ?? undefined, isLive);
  const order = orderOf(parameters);
  const sort = (orderBy: OrgKeyOrder) => {
    const descending = order.orderBy === orderBy && !order.descending ? 'yes' : undefined;
    navigate(listAddress(parameters, { sort: orderBy, descending }));
  };
  return (
    <>
      <Filters parameters={parameters} />
      <Problem error={page.error} retry={page.reload} />
      <div class="bar">
        <Total filter={filter} />
        <QuietButton onClick={page.reload}>{text.keys.refresh}</QuietButton>
        <QuietButton aria-expanded={isBulk} onClick={() => setIsBulk(!isBulk)}>
          {text.bulk.open}
        </QuietButton>
        <label>
          <input type="checkbox" checked={isLive} onChange={() => setIsLive(!isLive)} />{' '}
          {isLive && !live.isOpen ? text.keys.connecting : text.keys.live}
        </label>
        <span role="status">
          {page.isLoading ? text.loading : live.others > 0 && text.keys.others(formatInteger(live.others))}
        </span>
      </div>
      {isBulk && (
        <Bulk
          target={selection.size > 0 ? { keyHashes: [...selection.keys()] } : { filter }}
          onDone={isLive ? () => undefined : page.reload}
          onClose={() => setIsBulk(false)}
        />
      )}
      {page.data && (
        <>
          {page.data.rows.length === 0 ? (
            <p class="card">{text.keys.empty}</p>
          ) : (
            <KeysTable
              rows={live.rows}
              order={order}
              onSort={sort}
              selection={selection}
              onSelect={setSelection}
              changed={live.changed}
            />
          )}
          {page.data.damaged > 0 && <p class="problem">{text.keys.damaged(page.data.damaged)}</p>}
          <Pages parameters={parameters} pageInfo={page.data.pageInfo} />
        </>
      )}
    </>
  );
}

interface PagesProps {
  readonly parameters: URLSearchParams;
  readonly pageInfo: NonNullable<OrgKeyRowsQuery['orgKeys']>['pageInfo'];
}

function Pages({ parameters, pageInfo }: PagesProps) {
  const { hasNextPage, hasPreviousPage, startCursor, endCursor } = pageInfo;
  return (
    <nav class="pages" aria-label={text.keys.pages}>
      {hasPreviousPage && startCursor !== null && (
        <Link to={listAddress(parameters, { before: startCursor })}>{text.keys.previous}</Link>
      )}
      {hasNextPage && endCursor !== null && (
        <Link to={listAddress(parameters, { after: endCursor })}>{text.keys.next}</Link>
      )}
    </nav>
  );
}

/** Counts the keys on request only, because the time grows with their number. */
function Total({ filter }: { readonly filter: OrgKeyFilter }) {
  const client = useClient('service');
  const [total, setTotal] = useState<number>();
  const conditions = JSON.stringify(filter);
  useEffect(() => setTotal(undefined), [conditions]);
  const count = useAction(async () => {
    const { data, errors } = await client.send(OrgKeyCountDocument, { filter });
    setTotal(required(data.orgKeys?.totalCount, errors, text.keys.uncountable));
  });
  return (
    <>
      <QuietButton onClick={() => void count.run()} disabled={count.isRunning}>
        {text.keys.count}
      </QuietButton>
      <output>{total === undefined ? (count.error?.message ?? '') : text.keys.total(formatInteger(total))}</output>
    </>
  );
}
