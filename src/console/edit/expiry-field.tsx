import { useId } from 'preact/hooks';
import { formatRelative } from '../format.js';
import { Button, QuietButton } from '../parts/button.js';
import { FieldBox, type ControlProps } from './field.js';
import { editText } from './strings.js';

const texts = editText.expires;
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A date and a time as the control for them writes it, in the zone of the browser. */
function toLocal(seconds: unknown): string {
  const date = new Date(Number(seconds) * 1000);
  if (Number(seconds) < 1 || Number.isNaN(date.getTime())) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** When the key expires: a date and a time, or never. */
export function ExpiryField({ values, issues, onChange }: ControlProps) {
  const id = useId();
  const { expires } = values;
  const isSet = expires !== undefined && Number(expires) >= 1;
  const change = (date: Date) => onChange({ expires: Math.floor(date.getTime() / 1000) });
  return (
    <FieldBox
      id={id}
      label={texts.label}
      hint={isSet ? texts.hint(formatRelative(Number(expires)), zone) : texts.neverHint}
      names={['expires']}
      issues={issues}
    >
      <div class="join">
        <input
          id={id}
          data-path="expires"
          type="datetime-local"
          value={isSet ? toLocal(expires) : ''}
          aria-describedby={`${id}-hint`}
          onInput={({ currentTarget: { value } }) => (value === '' ? undefined : change(new Date(value)))}
        />
        {isSet && <QuietButton onClick={() => onChange({ expires: undefined })}>{texts.never}</QuietButton>}
      </div>
      <div class="presets">
        {Object.entries(texts.presets).map(([days, label]) => (
          <Button
            key={days}
            class="small"
            aria-label={texts.preset(label)}
            onClick={() => change(new Date(Date.now() + Number(days) * 86_400_000))}
          >
            {label}
          </Button>
        ))}
      </div>
    </FieldBox>
  );
}
