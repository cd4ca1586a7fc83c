import { useEffect, useState } from 'preact/hooks';
import { OrgKeyRowsDocument, type OrgKeyOrder, type OrgKeyRowsQuery, type RowFragment } from '../../client/client.js';
import { formatCount, formatInteger } from '../format.js';
import { Empty } from '../parts/empty.js';
import { PageHead } from '../parts/page-head.js';
import { PageLinks } from '../parts/page-links.js';
import { Problem } from '../parts/problem.js';
import { Button, QuietButton } from '../parts/button.js';
import { Link, navigate, useAddress } from '../router.js';
import { useClient, useSession } from '../session.js';
import { text } from '../strings.js';
import { nodesOf, required } from '../results.js';
import { useLoad } from '../use-load.js';
import { FilterChips, Views } from './filters.js';
import { KeysTable } from './keys-table.js';
import { activeFilters, listAddress, orderOf, variablesOf, viewAddress, viewOf } from './list-address.js';
import { Search } from './search.js';
import { handOver, type SelectedKeys } from './selection.js';
import { listText } from './strings.js';
import { useCounts, type Counts } from './use-counts.js';
import { useLiveRows } from './use-live-rows.js';
import { useRowKeys } from './use-row-keys.js';

const noRows: readonly RowFragment[] = [];
const noSelection: SelectedKeys = new Map();

/** The list of keys that the address names: view, filters, order and page. */
export function KeysView() {
  const client = useClient('service');
  const { can } = useSession();
  const { searchParams: parameters, search } = useAddress();
  const [selection, setSelection] = useState(noSelection);
  useEffect(() => setSelection(noSelection), [search]);
  const page = useLoad(
    async (signal) => {
      const { data, errors } = await client.send(OrgKeyRowsDocument, variablesOf(parameters), { signal });
      const connection = required(data.orgKeys, errors, text.notFound);
      const rows = nodesOf(connection);
      return { rows, damaged: (connection.edges?.length ?? 0) - rows.length, pageInfo: connection.pageInfo };
    },
    [client, search],
  );
  const counts = useCounts(parameters, page.data !== undefined);
  const live = useLiveRows(page.data?.rows ?? noRows, parameters.get('org') ?? undefined);
  useRowKeys();
  // The first key of an empty list.
  const hasFirst = page.data?.rows.length === 0 && live.others > 0;
  useEffect(() => (hasFirst ? page.reload() : undefined), [hasFirst]);
  const order = orderOf(parameters);
  const sort = (orderBy: OrgKeyOrder) => {
    const descending = order.orderBy === orderBy && !order.descending ? 'yes' : undefined;
    navigate(listAddress(parameters, { sort: orderBy, descending }));
  };
  return (
    <>
      <PageHead
        title={text.nav.keys}
        actions={
          <>
            {can('UPDATE') && page.data !== undefined && page.data.rows.length > 0 && (
              <Link class="button" to={listAddress(parameters, {}, '/console/bulk')}>
                {listText.bulkAll}
              </Link>
            )}
            {can('CREATE') && (
              <Link class="button primary" to="/console/new">
                {listText.create}
              </Link>
            )}
          </>
        }
      />
      <Search parameters={parameters} />
      <div class="bar">
        <Views parameters={parameters} counts={counts} />
        <FilterChips parameters={parameters} />
      </div>
      <Problem error={page.error} retry={page.reload} />
      {selection.size > 0 && <Selection selection={selection} onClear={() => setSelection(noSelection)} />}
      <p class={live.others > 0 ? 'note ok' : 'unseen'} role="status">
        {live.others === 0 && resultOf(page, activeFilters(parameters).length > 0)}
        {live.others > 0 && (
          <>
            {listText.others(formatCount(live.others, 'key'))}{' '}
            <QuietButton onClick={page.reload}>{listText.refresh}</QuietButton>
          </>
        )}
      </p>
      {page.data?.rows.length === 0 && <Nothing parameters={parameters} />}
      {page.data !== undefined && page.data.rows.length > 0 && (
        <>
          <KeysTable
            rows={live.rows}
            order={order}
            onSort={sort}
            selection={selection}
            onSelect={setSelection}
            changed={live.changed}
            canSelect={can('UPDATE')}
          />
          {page.data.damaged > 0 && <p class="issue">{listText.damaged(page.data.damaged)}</p>}
          <Pages parameters={parameters} pageInfo={page.data.pageInfo} shown={page.data.rows.length} counts={counts} />
        </>
      )}
    </>
  );
}

/** What the list shows, for a screen reader: it reads the heading only when the page is opened. */
function resultOf(
  {
    data,
    isLoading,
  }: { readonly data: { readonly rows: readonly unknown[] } | undefined; readonly isLoading: boolean },
  isFiltered: boolean,
): string {
  if (isLoading) return text.loading;
  if (!data) return '';
  if (data.rows.length === 0) return isFiltered ? listText.noneTitle : listText.emptyTitle;
  return listText.shown(formatCount(data.rows.length, 'key'));
}

function Selection({ selection, onClear }: { readonly selection: SelectedKeys; readonly onClear: () => void }) {
  const count = formatCount(selection.size, 'key');
  const open = () => {
    handOver(selection);
    navigate('/console/bulk?selected=yes');
  };
  return (
    <div class="selection" role="region" aria-label={listText.selected(count)}>
      <b>{listText.selected(count)}</b>
      <Button class="primary" onClick={open}>
        {listText.bulkSelected(count)}
      </Button>
      <QuietButton onClick={onClear}>{listText.clearSelection}</QuietButton>
    </div>
  );
}

/** What the list shows without a key: how to get the first one, or how to find others. */
function Nothing({ parameters }: { readonly parameters: URLSearchParams }) {
  const { can } = useSession();
  if (activeFilters(parameters).length > 0) {
    return (
      <Empty title={listText.noneTitle}>
        <p>{listText.none}</p>
        <div class="actions">
          <Link class="button" to="/console">
            {listText.clear}
          </Link>
          {viewOf(parameters) !== 'deleted' && (
            <Link class="button" to={viewAddress(parameters, 'deleted')}>
              {listText.showDeleted}
            </Link>
          )}
        </div>
      </Empty>
    );
  }
  return (
    <Empty title={listText.emptyTitle}>
      <p>{listText.empty}</p>
      <p>
        <code>{listText.importCommand}</code>
      </p>
      {can('CREATE') && (
        <div class="actions">
          <Link class="button primary" to="/console/new">
            {listText.create}
          </Link>
        </div>
      )}
    </Empty>
  );
}

interface PagesProps {
  readonly parameters: URLSearchParams;
  readonly pageInfo: NonNullable<OrgKeyRowsQuery['orgKeys']>['pageInfo'];
  readonly shown: number;
  readonly counts: Counts;
}

function Pages({ parameters, pageInfo, shown, counts }: PagesProps) {
  const view = viewOf(parameters);
  const total = view === undefined ? undefined : counts[view];
  const keys = formatInteger(shown);
  return (
    <PageLinks pageInfo={pageInfo} addressOf={(place) => listAddress(parameters, place)}>
      <small>{total == null ? listText.shown(keys) : listText.total(keys, total)}</small>
    </PageLinks>
  );
}
