import { useId, useRef, useState } from 'preact/hooks';
import { editText } from './strings.js';

interface ChipsProps {
  readonly label: string;
  readonly path: string;
  /** The text of the empty field. */
  readonly add: string;
  readonly values: readonly string[];
  readonly suggestions: readonly string[];
  readonly onChange: (values: readonly string[] | undefined) => void;
}

/** Short texts as chips, and a field that adds one with Enter, with a comma, or when it is left. */
export function Chips({ label, path, add, values, suggestions, onChange }: ChipsProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');
  const commit = () => {
    const added = typed
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== '' && !values.includes(value));
    setTyped('');
    if (added.length > 0) onChange([...values, ...added]);
  };
  const remove = (value: string) => {
    const rest = values.filter((other) => other !== value);
    onChange(rest.length > 0 ? rest : undefined);
    // The button that had the focus is gone.
    input.current?.focus();
  };
  return (
    <div class="chips">
      {values.map((value) => (
        <span key={value} class="chip">
          {value}
          <button type="button" aria-label={editText.removeChip(value, label)} onClick={() => remove(value)}>
            ×
          </button>
        </span>
      ))}
      <input
        ref={input}
        data-path={path}
        class="add"
        aria-label={add}
        placeholder={add}
        list={id}
        autocomplete="off"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={commit}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== ',') return;
          event.preventDefault();
          commit();
        }}
      />
      <datalist id={id}>
        {suggestions
          .filter((value) => !values.includes(value))
          .map((value) => (
            <option key={value} value={value} />
          ))}
      </datalist>
    </div>
  );
}
