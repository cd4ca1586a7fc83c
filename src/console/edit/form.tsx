import { useId } from 'preact/hooks';
import type { KeyfrontIssue } from '../../client/client.js';
import type { FormField } from '../form-field.js';
import { hintOf, labelOf, sentenceOf } from '../fields.js';
import { formatTime } from '../format.js';
import { Button, QuietButton } from '../parts/button.js';
import { editText } from './strings.js';
import { fromText, isFormValues, toText, withValue, type FormValues } from './form-values.js';
import { useDraft } from './use-draft.js';

interface FormProps {
  readonly fields: readonly FormField[];
  readonly values: FormValues;
  /** The path of the values in the definition, with a dot at its end unless it is empty. */
  readonly path?: string;
  readonly issues: readonly KeyfrontIssue[];
  readonly onChange: (values: FormValues) => void;
}

/** A form of the fields of a definition, each with its unit, its description and its issues. */
export function Form({ fields, values, path = '', issues, onChange }: FormProps) {
  return (
    <div class="form">
      {fields
        .filter(({ isEditable }) => isEditable)
        .map((field) => (
          <Field
            key={field.name}
            field={field}
            path={path + field.name}
            value={values[field.name]}
            issues={issues.filter((issue) => isWithin(issue.path, path + field.name))}
            onChange={(value) => onChange(withValue(values, field.name, value))}
          />
        ))}
    </div>
  );
}

/** Whether a path is that of a value or of a part of it. */
export function isWithin(path: string, outer: string): boolean {
  return path.startsWith(outer) && /^($|[.[])/.test(path.slice(outer.length));
}

interface FieldProps {
  readonly field: FormField;
  readonly path: string;
  readonly value: unknown;
  readonly issues: readonly KeyfrontIssue[];
  readonly onChange: (value: unknown) => void;
}

/** One field of the form. */
export function Field(props: FieldProps) {
  const { field, path, value, issues, onChange } = props;
  if (!field.fields) return field.type === 'Boolean' ? <Choice {...props} /> : <Entry {...props} />;
  const items = Array.isArray(value) ? value.filter(isFormValues) : [];
  const nested = { fields: field.fields, issues };
  return (
    <fieldset class="wide">
      <legend>{labelOf(field.name)}</legend>
      <small>{hintOf(field)}</small>
      <Issues issues={issues.filter((issue) => issue.path === path)} />
      {field.isList ? (
        <>
          {items.map((item, index) => (
            <fieldset key={index}>
              <legend>{editText.item(index + 1)}</legend>
              <Form
                {...nested}
                values={item}
                path={`${path}[${index}].`}
                onChange={(next) => onChange(items.with(index, next))}
              />
              <QuietButton onClick={() => onChange(items.filter((_, other) => other !== index))}>
                {editText.removeItem(index + 1, labelOf(field.name))}
              </QuietButton>
            </fieldset>
          ))}
          <Button onClick={() => onChange([...items, {}])}>{editText.addItem(labelOf(field.name))}</Button>
        </>
      ) : isFormValues(value) ? (
        <>
          <Form {...nested} values={value} path={`${path}.`} onChange={onChange} />
          <QuietButton onClick={() => onChange(undefined)}>{editText.remove(labelOf(field.name))}</QuietButton>
        </>
      ) : (
        <Button onClick={() => onChange({})}>{editText.add(labelOf(field.name))}</Button>
      )}
    </fieldset>
  );
}

/** A field of text: a string, a number, a list with an item on each line, or JSON. */
function Entry({ field, path, value, issues, onChange }: FieldProps) {
  const id = useId();
  const [shown, setDraft] = useDraft(
    value,
    (text) => fromText(field, text),
    (one) => toText(field, one),
  );
  const change = (event: Event) => {
    const { value: typed } = event.currentTarget as HTMLInputElement;
    setDraft(typed);
    onChange(fromText(field, typed));
  };
  const attributes = {
    id,
    value: shown,
    onInput: change,
    'aria-describedby': `${id}-hint ${id}-issues`,
    'aria-invalid': issues.length > 0,
    'data-path': path,
  };
  const isLong = field.isList || field.type.startsWith('JSON');
  const isNumber = ['Int', 'Int64', 'Float'].includes(field.type);
  return (
    <div class={isLong ? 'field wide' : 'field'}>
      <label for={id}>
        {labelOf(field.name)} {field.unit !== undefined && <small>({field.unit})</small>}
      </label>
      {isLong ? (
        <textarea rows={3} {...attributes} />
      ) : field.isSecret ? (
        <input
          type="password"
          autocomplete="new-password"
          placeholder={value === null ? editText.cleared : ''}
          {...attributes}
        />
      ) : (
        <input autocomplete="off" {...(isNumber && { inputMode: 'decimal' })} {...attributes} />
      )}
      {field.isSecret && (
        <label class="option">
          <input
            type="checkbox"
            checked={value === null}
            onChange={() => onChange(value === null ? undefined : null)}
          />{' '}
          {editText.clear(labelOf(field.name))}
        </label>
      )}
      <small id={`${id}-hint`}>
        {field.unit === 'Unix seconds' && shown !== '' && <b>{formatTime(shown)}. </b>}
        {field.isList && editText.lines} {hintOf(field)}
      </small>
      <div id={`${id}-issues`}>
        <Issues issues={issues} />
      </div>
    </div>
  );
}

/** A field that is yes, no or not set. */
function Choice({ field, path, value, issues, onChange }: FieldProps) {
  const id = useId();
  const options = new Map<unknown, string>([
    [undefined, editText.notSet],
    [true, editText.yes],
    [false, editText.no],
  ]);
  return (
    <div class="field">
      <label for={id}>{labelOf(field.name)}</label>
      <select
        id={id}
        data-path={path}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange([...options.keys()][event.currentTarget.selectedIndex])}
      >
        {[...options].map(([option, label]) => (
          <option key={label} selected={option === value}>
            {label}
          </option>
        ))}
      </select>
      <small id={`${id}-hint`}>{hintOf(field)}</small>
      <Issues issues={issues} />
    </div>
  );
}

/** The problems of a field. */
export function Issues({ issues }: { readonly issues: readonly KeyfrontIssue[] }) {
  if (issues.length === 0) return null;
  return (
    <ul class="issues">
      {issues.map((issue) => (
        <li key={issue.path + issue.message}>{sentenceOf(issue)}</li>
      ))}
    </ul>
  );
}
