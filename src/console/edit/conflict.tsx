import { useState } from 'preact/hooks';
import { formatValue } from '../format.js';
import { text } from '../strings.js';
import { mergeFields, withValue, type FieldConflict, type FormValues } from './form-values.js';

interface ConflictProps {
  /** The version that another client has written. */
  readonly version: number;
  readonly base: FormValues;
  readonly mine: FormValues;
  readonly theirs: FormValues;
  readonly onMerged: (merged: FormValues) => void;
}

type Choices = Readonly<Record<string, 'mine' | 'theirs'>>;

/** Merges the edited definition with the one that another client has saved meanwhile, field by field. */
export function Conflict({ version, base, mine, theirs, onMerged }: ConflictProps) {
  const [choices, setChoices] = useState<Choices>({});
  const { merged, taken, conflicts } = mergeFields(base, mine, theirs);
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    const chosen = conflicts.filter(({ name }) => choices[name] === 'theirs');
    onMerged(chosen.reduce((values, { name, theirs: value }) => withValue(values, name, value), merged));
  };
  return (
    <form class="card" aria-labelledby="conflict" onSubmit={apply}>
      <h2 id="conflict" aria-live="assertive">
        {text.conflict.title(version)}
      </h2>
      {taken.length > 0 && (
        <>
          <p>{text.conflict.taken}</p>
          <ul>
            {taken.map((name) => (
              <li key={name}>
                <code>{name}</code>: <del>{formatValue(base[name])}</del> <ins>{formatValue(theirs[name])}</ins>
              </li>
            ))}
          </ul>
        </>
      )}
      {conflicts.length > 0 && <p>{text.conflict.both}</p>}
      {conflicts.map((conflict) => (
        <ConflictChoice
          key={conflict.name}
          conflict={conflict}
          onChoose={(choice) => setChoices((all) => ({ ...all, [conflict.name]: choice }))}
        />
      ))}
      <button type="submit" disabled={conflicts.some(({ name }) => choices[name] === undefined)}>
        {text.conflict.apply}
      </button>
    </form>
  );
}

interface ConflictChoiceProps {
  readonly conflict: FieldConflict;
  readonly onChoose: (choice: 'mine' | 'theirs') => void;
}

function ConflictChoice({ conflict, onChoose }: ConflictChoiceProps) {
  const { name, base } = conflict;
  return (
    <fieldset>
      <legend>
        <code>{name}</code>
      </legend>
      <p class="hint">{text.conflict.before(formatValue(base))}</p>
      {(['mine', 'theirs'] as const).map((choice) => (
        <label key={choice} class="option">
          <input type="radio" name={name} onChange={() => onChoose(choice)} /> {text.conflict[choice]}:{' '}
          <code>{formatValue(conflict[choice])}</code>
        </label>
      ))}
    </fieldset>
  );
}
