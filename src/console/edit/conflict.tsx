import { useState } from 'preact/hooks';
import { formatField } from '../describe-change.js';
import { fieldAt, labelOf } from '../fields.js';
import { QuietButton } from '../parts/button.js';
import { mergeFields, withValue, type FieldConflict, type FormValues } from './form-values.js';
import { editText } from './strings.js';

const texts = editText.conflict;

interface ConflictProps {
  readonly base: FormValues;
  readonly mine: FormValues;
  readonly theirs: FormValues;
  readonly notice: string;
  readonly onMerged: (merged: FormValues) => void;
  readonly onBack: () => void;
}

type Choices = Readonly<Record<string, 'mine' | 'theirs'>>;

/** Merges the edited definition with the one that another client has saved meanwhile, field by field. */
export function Conflict({ base, mine, theirs, notice, onMerged, onBack }: ConflictProps) {
  const [choices, setChoices] = useState<Choices>({});
  const { merged, taken, conflicts } = mergeFields(base, mine, theirs);
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    const chosen = conflicts.filter(({ name }) => choices[name] === 'theirs');
    onMerged(chosen.reduce((values, { name, theirs: value }) => withValue(values, name, value), merged));
  };
  return (
    <form class="panel" aria-labelledby="conflict" onSubmit={apply}>
      <header>
        <h2 id="conflict">{texts.title}</h2>
      </header>
      <div class="body stack">
        <p role="status">{notice}</p>
        {taken.length + conflicts.length === 0 && <p>{texts.none}</p>}
        {taken.length > 0 && (
          <div>
            <p>{texts.taken}</p>
            <ul class="diff">
              {taken.map((name) => (
                <li key={name}>
                  <span class="field-name">{labelOf(name)}</span> <del>{shown(name, base[name])}</del>{' '}
                  <ins>{shown(name, theirs[name])}</ins>
                </li>
              ))}
            </ul>
          </div>
        )}
        {conflicts.length > 0 && <p>{texts.both}</p>}
        {conflicts.map((conflict) => (
          <Choice
            key={conflict.name}
            conflict={conflict}
            onChoose={(choice) => setChoices((all) => ({ ...all, [conflict.name]: choice }))}
          />
        ))}
        <div class="actions">
          <button type="submit" class="primary" disabled={conflicts.some(({ name }) => choices[name] === undefined)}>
            {texts.apply}
          </button>
          <QuietButton onClick={onBack}>{texts.back}</QuietButton>
        </div>
      </div>
    </form>
  );
}

function shown(name: string, value: unknown): string {
  return formatField(fieldAt(name), value);
}

interface ChoiceProps {
  readonly conflict: FieldConflict;
  readonly onChoose: (choice: 'mine' | 'theirs') => void;
}

function Choice({ conflict, onChoose }: ChoiceProps) {
  const { name, base } = conflict;
  return (
    <fieldset class="choice">
      <legend>{labelOf(name)}</legend>
      <small>{texts.before(shown(name, base))}</small>
      {(['mine', 'theirs'] as const).map((choice) => (
        <label key={choice} class="option">
          <input type="radio" name={name} onChange={() => onChoose(choice)} />
          <span>
            {texts[choice]}: <b>{shown(name, conflict[choice])}</b>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
