import { AmountField } from '../edit/amount-field.js';
import { Chips } from '../edit/chips-field.js';
import { ExpiryField } from '../edit/expiry-field.js';
import { FieldBox, type ControlProps } from '../edit/field.js';
import { Field } from '../edit/form.js';
import { withValue, type FormValues } from '../edit/form-values.js';
import { PoliciesField } from '../edit/policies-field.js';
import { editText } from '../edit/strings.js';
import { labelOf } from '../fields.js';
import { formFields } from '../generated/form-fields.js';
import { QuietButton } from '../parts/button.js';
import type { Suggestions } from '../suggestions.js';
import { bulkText } from './strings.js';

interface FieldsProps {
  /** The fields to change. A field that is null is removed from the keys. `addTags` and `removeTags` change the tags. */
  readonly patch: FormValues;
  readonly suggestions: Suggestions;
  readonly onChange: (patch: FormValues) => void;
}

/** Fields that have one control with another one. */
const partners: Readonly<Record<string, string>> = { rate: 'per', quotaMax: 'quotaRenewalRate' };
const tagChanges = ['addTags', 'removeTags'];
const first = ['isInactive', 'expires', 'rate', 'quotaMax', 'applyPolicies', ...tagChanges, 'tags'];
const hidden = new Set([...first, ...Object.values(partners), 'alias']);

/** The names of the fields that can be changed in many keys, those that people change first. */
const names: readonly string[] = [
  ...first,
  ...formFields.filter(({ name, isEditable }) => isEditable && !hidden.has(name)).map(({ name }) => name),
];

/** Lets the user add the fields to change, each with its control. */
export function FieldsToChange({ patch, suggestions, onChange }: FieldsProps) {
  const chosen = names.filter((name) => name in patch);
  // Tags are replaced, or added and removed.
  const isExcluded = (name: string) =>
    name === 'tags' ? tagChanges.some((one) => one in patch) : tagChanges.includes(name) && 'tags' in patch;
  const add = (name: string) => {
    const partner = partners[name];
    onChange({ ...patch, [name]: null, ...(partner !== undefined && { [partner]: null }) });
  };
  const remove = (name: string) =>
    onChange(
      [name, partners[name]].reduce<FormValues>(
        (rest, one) => (one === undefined ? rest : withValue(rest, one, undefined)),
        patch,
      ),
    );
  return (
    <>
      {chosen.map((name) => (
        <div key={name} class="bulk-field">
          <Control name={name} patch={patch} suggestions={suggestions} onChange={onChange} />
          <QuietButton aria-label={bulkText.remove(labelOf(name))} onClick={() => remove(name)}>
            ×
          </QuietButton>
        </div>
      ))}
      <label class="field">
        {bulkText.field}
        <select value="" onChange={({ currentTarget }) => add(currentTarget.value)}>
          <option value="">{bulkText.choose}</option>
          {names
            .filter((name) => !(name in patch) && !isExcluded(name))
            .map((name) => (
              <option key={name} value={name}>
                {labelOf(name)}
              </option>
            ))}
        </select>
      </label>
    </>
  );
}

function Control({ name, patch, suggestions, onChange }: FieldsProps & { readonly name: string }) {
  // A control knows absent fields, and a patch those that it removes.
  const values: FormValues = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== null));
  const change: ControlProps['onChange'] = (changes) =>
    onChange({ ...patch, ...Object.fromEntries(Object.entries(changes).map(([key, value]) => [key, value ?? null])) });
  const control: ControlProps = { values, issues: [], onChange: change };
  const tags = (texts: Readonly<Record<'label' | 'hint' | 'add', string>>) => (
    <FieldBox label={texts.label} hint={texts.hint} names={[name]} issues={[]}>
      <Chips
        label={texts.label}
        path={name}
        add={texts.add}
        values={Array.isArray(patch[name]) ? patch[name].map(String) : []}
        suggestions={suggestions.tags}
        onChange={(next) => change({ [name]: next })}
      />
    </FieldBox>
  );
  switch (name) {
    case 'isInactive':
      return (
        <label class="field">
          {editText.active.label}
          <select
            data-path={name}
            onChange={(event) => change({ isInactive: event.currentTarget.value === 'off' ? true : null })}
          >
            <option value="on" selected={patch[name] !== true}>
              {editText.active.on}
            </option>
            <option value="off" selected={patch[name] === true}>
              {editText.active.off}
            </option>
          </select>
        </label>
      );
    case 'expires':
      return <ExpiryField {...control} />;
    case 'rate':
      return <AmountField {...control} name="rate" period="per" texts={editText.rate} defaultPeriod={60} />;
    case 'quotaMax':
      return (
        <AmountField
          {...control}
          name="quotaMax"
          period="quotaRenewalRate"
          texts={editText.quota}
          defaultPeriod={2_592_000}
        />
      );
    case 'applyPolicies':
      return <PoliciesField {...control} suggestions={suggestions} />;
    case 'addTags':
      return tags(editText.addTags);
    case 'removeTags':
      return tags(editText.removeTags);
    case 'tags':
      return tags({ ...editText.tags, hint: bulkText.replaces });
    default:
      return <Other name={name} patch={patch} onChange={change} />;
  }
}

interface OtherProps {
  readonly name: string;
  readonly patch: FormValues;
  readonly onChange: ControlProps['onChange'];
}

function Other({ name, patch, onChange }: OtherProps) {
  const field = formFields.find((one) => one.name === name);
  if (!field) return null;
  const value = patch[name] ?? undefined;
  return <Field field={field} path={name} value={value} issues={[]} onChange={(next) => onChange({ [name]: next })} />;
}
