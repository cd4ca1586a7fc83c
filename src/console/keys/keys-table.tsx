import type { OrgKeyOrder, RowFragment } from '../../client/client.js';
import { formatNumber, formatTime, shortHash } from '../format.js';
import { QuotaCell, StateBadge } from '../parts/badges.js';
import { Link } from '../router.js';
import { text } from '../strings.js';

/** The selected keys, by their hashes. */
export type SelectedKeys = ReadonlyMap<string, RowFragment>;

interface KeysTableProps {
  readonly rows: readonly RowFragment[];
  readonly order: { readonly orderBy: OrgKeyOrder; readonly descending: boolean };
  readonly onSort: (order: OrgKeyOrder) => void;
  readonly selection: SelectedKeys;
  readonly onSelect: (selection: SelectedKeys) => void;
  /** The keys that have changed while the page is shown. */
  readonly changed: ReadonlySet<string>;
}

/** The displayed name of a key: its alias, or the beginning of its hash. Its identifier may be a secret. */
export function nameOf({ definition, keyHash }: RowFragment): string {
  return definition?.alias || shortHash(keyHash);
}

/** A page of keys. */
export function KeysTable({ rows, order, onSort, selection, onSelect, changed }: KeysTableProps) {
  const areAllSelected = rows.every(({ keyHash }) => selection.has(keyHash));
  const selectAll = () => onSelect(areAllSelected ? new Map() : new Map(rows.map((row) => [row.keyHash, row])));
  const toggle = (row: RowFragment) => {
    const next = new Map(selection);
    if (!next.delete(row.keyHash)) next.set(row.keyHash, row);
    onSelect(next);
  };
  const sortable = (orderBy: OrgKeyOrder, label: string) => {
    const isSorted = order.orderBy === orderBy;
    return (
      <th scope="col" aria-sort={isSorted ? (order.descending ? 'descending' : 'ascending') : undefined}>
        <button type="button" class="sort" onClick={() => onSort(orderBy)}>
          {label}
        </button>
      </th>
    );
  };
  const { columns } = text.keys;
  return (
    <div class="scroller" role="region" aria-label={text.keys.table} tabIndex={0}>
      <table class="keys">
        <thead>
          <tr>
            <td>
              <input type="checkbox" aria-label={text.keys.selectAll} checked={areAllSelected} onChange={selectAll} />
            </td>
            {sortable('ALIAS', columns.alias)}
            <th scope="col">{columns.org}</th>
            <th scope="col">{columns.state}</th>
            <th scope="col">{columns.quota}</th>
            <th scope="col">{columns.rate}</th>
            <th scope="col">{columns.tags}</th>
            <th scope="col">{columns.expires}</th>
            {sortable('LAST_UPDATED', columns.updated)}
            {sortable('KEY_HASH', columns.keyHash)}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={row.keyHash}
              row={row}
              isSelected={selection.has(row.keyHash)}
              isChanged={changed.has(row.keyHash)}
              onToggle={toggle}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly row: RowFragment;
  readonly isSelected: boolean;
  readonly isChanged: boolean;
  readonly onToggle: (row: RowFragment) => void;
}

function Row({ row, isSelected, isChanged, onToggle }: RowProps) {
  const { keyHash, orgID, state, quota, definition, updatedAt } = row;
  const name = nameOf(row);
  const { rate = null, per = null, tags = null, expires = null } = definition ?? {};
  const neverExpires = expires === null || Number(expires) < 1;
  return (
    <tr class={isChanged ? 'changed' : undefined} data-key={keyHash}>
      <td>
        <input
          type="checkbox"
          aria-label={text.keys.select(name)}
          checked={isSelected}
          onChange={() => onToggle(row)}
        />
      </td>
      <th scope="row">
        <Link to={`/console/keys/${keyHash}`}>{name}</Link>
      </th>
      <td>{orgID}</td>
      <td>
        <StateBadge state={state} />
      </td>
      <td class="quota">
        <QuotaCell quota={quota} label={name} />
      </td>
      <td>
        {rate === null ? text.none : text.keys.rate(formatNumber(rate), per === null ? undefined : formatNumber(per))}
      </td>
      <td>{tags?.join(', ') || text.none}</td>
      <td>{neverExpires ? text.never : formatTime(expires)}</td>
      <td>{formatTime(updatedAt)}</td>
      <td>
        <code>{shortHash(keyHash)}</code>
      </td>
    </tr>
  );
}
