import { useState } from 'preact/hooks';
import type { OrgKeyState } from '../../client/client.js';
import { formText } from '../format.js';
import { CopyButton } from '../parts/button.js';
import { Menu } from '../parts/menu.js';
import { Link, navigate } from '../router.js';
import { text } from '../strings.js';
import {
  activeFilters,
  filterNames,
  listAddress,
  viewAddress,
  viewNames,
  viewOf,
  withFilter,
  withoutFilter,
  type FilterName,
  type ViewName,
} from './list-address.js';
import { listText } from './strings.js';

interface ViewsProps {
  readonly parameters: URLSearchParams;
  /** The number of keys in each view; absent while it is counted, and null if it cannot be. */
  readonly counts: Readonly<Partial<Record<ViewName, string | null>>>;
}

/** The views that many people need, each with the number of its keys. */
export function Views({ parameters, counts }: ViewsProps) {
  const current = viewOf(parameters);
  return (
    <nav class="tabs" aria-label={listText.views}>
      {viewNames.map((name) => (
        <Link key={name} to={viewAddress(parameters, name)} current={name === current}>
          {listText.viewNames[name]} <span class="count">{counts[name] ?? ''}</span>
        </Link>
      ))}
    </nav>
  );
}

/** The value of a filter in words. */
export function valueText(name: FilterName, value: string): string {
  if (name === 'state') return value.split(',').map(stateText).join(', ');
  return name === 'expires' || name === 'unused' ? listText.within(value) : value;
}

function stateText(state: string): string {
  return text.states[state as OrgKeyState] ?? state;
}

/** The filters of the address as chips, each with a button that removes it, and a menu that adds another. */
export function FilterChips({ parameters }: { readonly parameters: URLSearchParams }) {
  const view = viewOf(parameters);
  // A view states its own filters.
  const own = view !== undefined && view !== 'all' ? ['state', 'expires'] : [];
  const shown = activeFilters(parameters).filter(([name]) => !own.includes(name));
  return (
    <div class="chips">
      {shown.map(([name, value]) => {
        const label = `${listText.filterLabels[name]}: ${valueText(name, value)}`;
        return (
          <span key={label} class="chip">
            {label}
            <button
              type="button"
              aria-label={listText.removeFilter(label)}
              onClick={() => navigate(withoutFilter(parameters, name, value))}
            >
              ×
            </button>
          </span>
        );
      })}
      <Menu label={`+ ${listText.addFilter}`} class="add">
        <AddFilter parameters={parameters} />
      </Menu>
      {shown.length > 0 && (
        <>
          <Link
            class="quiet-link"
            to={listAddress(parameters, Object.fromEntries(shown.map(([name]) => [name, undefined])))}
          >
            {listText.clear}
          </Link>
          <CopyButton value={location.href} label={listText.copyView} text={listText.copyLink} />
        </>
      )}
    </div>
  );
}

function AddFilter({ parameters }: { readonly parameters: URLSearchParams }) {
  const [name, setName] = useState<FilterName>('org');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const value = formText(event.currentTarget, 'value');
    if (value !== '') navigate(withFilter(parameters, name, value));
  };
  return (
    <form class="stack" onSubmit={submit}>
      <label>
        {listText.field}
        <select value={name} onChange={(event) => setName(event.currentTarget.value as FilterName)}>
          {filterNames.map((option) => (
            <option key={option} value={option} selected={option === name}>
              {listText.filterLabels[option]}
            </option>
          ))}
        </select>
      </label>
      <label>
        {listText.value}
        {name === 'state' ? (
          <select name="value">
            {Object.entries(text.states).map(([state, label]) => (
              <option key={state} value={state}>
                {label}
              </option>
            ))}
          </select>
        ) : name === 'expires' || name === 'unused' ? (
          <select name="value">
            {['7', '30', '90', '365'].map((days) => (
              <option key={days} value={days}>
                {listText.within(days)}
              </option>
            ))}
          </select>
        ) : (
          <input name="value" autocomplete="off" />
        )}
      </label>
      <button type="submit" class="primary" data-closes>
        {listText.add}
      </button>
    </form>
  );
}
