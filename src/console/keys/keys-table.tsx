import type { OrgKeyOrder, RowFragment } from '../../client/client.js';
import { formatDay, formatRate, nameOf, shortHash } from '../format.js';
import { keyAddress } from '../key-address.js';
import { QuotaCell, StateLabel } from '../parts/state.js';
import { Ago } from '../parts/time.js';
import { Link } from '../router.js';
import type { SelectedKeys } from './selection.js';
import { listText } from './strings.js';

interface KeysTableProps {
  readonly rows: readonly RowFragment[];
  readonly order: { readonly orderBy: OrgKeyOrder; readonly descending: boolean };
  readonly onSort: (order: OrgKeyOrder) => void;
  readonly selection: SelectedKeys;
  readonly onSelect: (selection: SelectedKeys) => void;
  /** The keys that have changed while the page is shown. */
  readonly changed: ReadonlySet<string>;
  readonly canSelect: boolean;
}

type Column = keyof typeof listText.columns;

const orders: Partial<Record<Column, OrgKeyOrder>> = {
  key: 'ALIAS',
  expires: 'EXPIRES',
  updated: 'LAST_UPDATED',
  used: 'LAST_USED',
};

/** A page of keys. On a narrow screen each row is a card. */
export function KeysTable({ rows, order, onSort, selection, onSelect, changed, canSelect }: KeysTableProps) {
  const isAllSelected = rows.every(({ keyHash }) => selection.has(keyHash));
  const select = (row: RowFragment) => {
    const next = new Map(selection);
    if (!next.delete(row.keyHash)) next.set(row.keyHash, row);
    onSelect(next);
  };
  return (
    <table class="keys panel" aria-label={listText.table}>
      <thead>
        <tr>
          {canSelect && (
            <td class="select">
              <input
                type="checkbox"
                aria-label={listText.selectAll}
                checked={isAllSelected}
                onChange={() => onSelect(new Map(isAllSelected ? [] : rows.map((row) => [row.keyHash, row])))}
              />
            </td>
          )}
          {Object.entries(listText.columns).map(([column, label]) => (
            <Header key={column} label={label} orderBy={orders[column as Column]} order={order} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row
            key={row.keyHash}
            row={row}
            isSelected={selection.has(row.keyHash)}
            isChanged={changed.has(row.keyHash)}
            onSelect={canSelect ? select : undefined}
          />
        ))}
      </tbody>
    </table>
  );
}

interface HeaderProps extends Pick<KeysTableProps, 'order' | 'onSort'> {
  readonly label: string;
  readonly orderBy: OrgKeyOrder | undefined;
}

function Header({ label, orderBy, order, onSort }: HeaderProps) {
  if (orderBy === undefined) return <th scope="col">{label}</th>;
  const direction = order.descending ? 'descending' : 'ascending';
  const isSorted = order.orderBy === orderBy;
  return (
    <th scope="col" aria-sort={isSorted ? direction : undefined}>
      <button type="button" class="sort" data-order={isSorted ? direction : undefined} onClick={() => onSort(orderBy)}>
        {label}
      </button>
    </th>
  );
}

interface RowProps {
  readonly row: RowFragment;
  readonly isSelected: boolean;
  readonly isChanged: boolean;
  readonly onSelect: ((row: RowFragment) => void) | undefined;
}

function Row({ row, isSelected, isChanged, onSelect }: RowProps) {
  const name = nameOf(row);
  const { keyHash, orgID, definition, quota, updatedAt, lastUsedAt } = row;
  return (
    <tr class={isChanged ? 'changed' : undefined} data-key={keyHash}>
      {onSelect && (
        <td class="select">
          <input
            type="checkbox"
            aria-label={listText.select(name)}
            checked={isSelected}
            onChange={() => onSelect(row)}
          />
        </td>
      )}
      <th scope="row">
        <Link to={keyAddress(keyHash)} class="name">
          {name}
        </Link>
        <small>
          {orgID} · <code>{shortHash(keyHash)}</code>{' '}
          {definition?.tags?.map((tag) => (
            <span key={tag} class="tag">
              {tag}
            </span>
          ))}
        </small>
      </th>
      <td class="state-cell">
        <StateLabel {...row} />
      </td>
      <td class="quota-cell">
        <QuotaCell quota={quota} label={name} />
      </td>
      <td class="detail" data-label={listText.columns.rate}>
        {rateOf(row)}
      </td>
      <td class="detail" data-label={listText.columns.expires}>
        {expiryOf(row)}
      </td>
      <td class="wide">
        <Ago at={updatedAt} />
      </td>
      <td class="wide">{lastUsedAt === null ? listText.never : <Ago at={lastUsedAt} />}</td>
    </tr>
  );
}

/** The effective rate. If the key states none, it can be that of a policy that is not imported. */
function rateOf({ definition, effectiveAccess }: RowFragment): string {
  const { rate, per } = effectiveAccess?.limits.values ?? definition ?? {};
  const unknown = effectiveAccess?.unknownPolicyIDs ?? [];
  if (rate == null && unknown.length > 0) return listText.policies(unknown.join(', '));
  return formatRate(rate, per);
}

function expiryOf({ definition }: RowFragment): string {
  const expires = definition?.expires;
  return expires == null || Number(expires) < 1 ? listText.never : formatDay(expires);
}
