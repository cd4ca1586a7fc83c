import type { OrgKeyState } from '../../client/client.js';
import { formatInteger, usedShare, type Integer } from '../format.js';
import { text } from '../strings.js';

/** The state of a key, in words and in color. */
export function StateBadge({ state }: { readonly state: OrgKeyState }) {
  return <span class={`badge ${state.toLowerCase()}`}>{text.states[state]}</span>;
}

/** The figures of a quota. */
export interface Quota {
  readonly max: Integer | null;
  readonly used: Integer;
  readonly remaining: Integer | null;
  readonly renewsAt: string | null;
}

/** The use of a quota in a table. A quota is null if its counter cannot be read. */
export function QuotaCell({ quota, label }: { readonly quota: Quota | null; readonly label: string }) {
  if (!quota) return <span class="hint">{text.quota.unavailable}</span>;
  const share = usedShare(quota);
  if (share === undefined) return <span class="hint">{text.quota.unlimited}</span>;
  const { max, used } = quota;
  return (
    <>
      <meter min={0} max={1} low={0.75} high={0.9} optimum={0} value={share} aria-label={text.quota.of(label)} />
      <small>{text.quota.usedOf(formatInteger(used), formatInteger(max ?? 0))}</small>
    </>
  );
}
