import { useId, useState } from 'preact/hooks';
import { formatInteger, formatNumber, type Integer } from '../format.js';
import { FieldBox, type ControlProps } from './field.js';
import { numberOf } from './form-values.js';
import { editText } from './strings.js';
import { useDraft } from './use-draft.js';

const sizes = [1, 60, 3600, 86_400, 604_800, 2_592_000] as const;
type Size = (typeof sizes)[number];

/** The largest unit, in seconds, that divides a period. */
function sizeOf(seconds: unknown): Size {
  const length = Number(seconds ?? 60);
  return sizes.toReversed().find((size) => length > 0 && length % size === 0) ?? 1;
}

interface AmountProps extends ControlProps {
  /** The fields of the number and of the period in seconds. */
  readonly name: 'rate' | 'quotaMax';
  readonly period: 'per' | 'quotaRenewalRate';
  readonly texts: typeof editText.rate | typeof editText.quota;
  readonly defaultPeriod: number;
  readonly hint?: string | undefined;
}

/** A number of requests in a period, with the units of people. */
export function AmountField({ values, issues, onChange, name, period, texts, defaultPeriod, hint }: AmountProps) {
  const id = useId();
  const [size, setSize] = useState(() => sizeOf(values[period] ?? defaultPeriod));
  const value = values[name];
  const length = values[period];
  const lengthOf = (typed: string) => {
    const count = numberOf(typed);
    return typeof count === 'number' ? count * size : typed || undefined;
  };
  const [shown, setDraft] = useDraft(value, numberOf, textOf);
  const [shownLength, setLengthDraft] = useDraft(length, lengthOf, (seconds) =>
    typeof seconds === 'number' ? formatNumber(seconds / size) : textOf(seconds),
  );
  const isLimited = value !== undefined;
  const neverRenews = name === 'quotaMax' && isLimited && (length === undefined || Number(length) <= 0);
  const change = (typed: string) => {
    setDraft(typed);
    if (typed.trim() === '') return onChange({ [name]: undefined, [period]: undefined });
    onChange({ [name]: numberOf(typed), ...(!isLimited && length === undefined && { [period]: defaultPeriod }) });
  };
  const changeLength = (typed: string) => {
    setLengthDraft(typed);
    onChange({ [period]: lengthOf(typed) });
  };
  const isOne = typeof length !== 'number' || length / size === 1;
  return (
    <FieldBox id={id} label={texts.label} hint={hint ?? texts.hint} names={[name, period]} issues={issues}>
      <div class="join">
        <input
          id={id}
          data-path={name}
          inputMode="decimal"
          autocomplete="off"
          class="amount"
          value={shown}
          aria-describedby={`${id}-hint`}
          onInput={(event) => change(event.currentTarget.value)}
        />
        <span>{neverRenews ? editText.quota.never : texts.requests}</span>
        {!neverRenews && (
          <input
            data-path={period}
            inputMode="decimal"
            autocomplete="off"
            class="length"
            aria-label={texts.count}
            disabled={!isLimited}
            value={shownLength}
            onInput={(event) => changeLength(event.currentTarget.value)}
          />
        )}
        <select
          aria-label={texts.unit}
          disabled={!isLimited}
          onChange={(event) => {
            const chosen = Number(event.currentTarget.value);
            if (chosen === 0) return onChange({ [period]: undefined });
            const count = typeof length === 'number' && length > 0 ? length / size : 1;
            setSize(chosen as Size);
            onChange({ [period]: count * chosen });
          }}
        >
          {sizes.map((option) => (
            <option key={option} value={option} selected={!neverRenews && option === size}>
              {editText.units[option][isOne ? 0 : 1]}
            </option>
          ))}
          {name === 'quotaMax' && (
            <option value={0} selected={neverRenews}>
              {editText.quota.never}
            </option>
          )}
        </select>
      </div>
    </FieldBox>
  );
}

function textOf(value: unknown): string {
  if (value == null || value === -1) return '';
  if (typeof value === 'number') return Number.isInteger(value) ? formatInteger(value) : String(value);
  return typeof value === 'string' ? value : '';
}

/** Says that a policy decides instead of the value. */
export function governedHint(policyID: string | undefined): string | undefined {
  return policyID === undefined ? undefined : editText.governed(policyID);
}

/** The number of requests in the present period, as a hint. */
export function usedHint(used: Integer | undefined): string | undefined {
  return used === undefined ? undefined : `${editText.quota.hint} ${editText.quota.used(formatInteger(used))}`;
}
