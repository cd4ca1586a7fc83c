import { formatInteger, formatRelative, usedShare } from '../format.js';
import { stateOf, type KeyStatus, type Quota } from '../key-state.js';
import { text } from '../strings.js';

/** The state of a key, in words and in color. */
export function StateLabel(key: KeyStatus) {
  const { tone, label } = stateOf(key);
  return <span class={`state ${tone}`}>{label}</span>;
}

/** The part of a quota that is used, as a bar. */
export function QuotaBar({ quota, label }: { readonly quota: Quota; readonly label: string }) {
  const share = usedShare(quota) ?? 0;
  const tone = share >= 1 ? 'full' : share >= 0.8 ? 'hot' : '';
  return (
    <div
      class={`meter ${tone}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
    >
      <i style={{ width: `${share * 100}%` }} />
    </div>
  );
}

/** The use of a quota in a list. A quota is null if its counter cannot be read. */
export function QuotaCell({ quota, label }: { readonly quota: Quota | null; readonly label: string }) {
  if (!quota) return <small>{text.quota.unavailable}</small>;
  if (quota.max === null) return <small>{text.quota.unlimited}</small>;
  const renews = quota.renewsAt === null ? text.quota.neverRenews : text.quota.renews(formatRelative(quota.renewsAt));
  return (
    <>
      <QuotaBar quota={quota} label={text.quota.of(label)} />
      <small>
        {text.quota.usedOf(formatInteger(quota.used), formatInteger(quota.max))} · {renews}
      </small>
    </>
  );
}
