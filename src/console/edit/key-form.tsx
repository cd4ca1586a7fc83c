import { useEffect, useId, useState } from 'preact/hooks';
import { labelOf } from '../fields.js';
import type { FormField } from '../form-field.js';
import type { Integer } from '../format.js';
import type { ShownLimits } from '../key/effective.js';
import { useClient } from '../session.js';
import { noSuggestions, readSuggestions } from '../suggestions.js';
import { AccessField } from './access-field.js';
import { textOf, textsOf } from './allowed-paths.js';
import { AmountField, governedHint, usedHint } from './amount-field.js';
import { Chips } from './chips-field.js';
import { ExpiryField } from './expiry-field.js';
import { FieldBox, type ControlProps } from './field.js';
import { Form, isWithin } from './form.js';
import { withValue, type FormValues } from './form-values.js';
import { editText } from './strings.js';
import { PoliciesField } from './policies-field.js';
import { advancedFields } from './topics.js';

interface KeyFormProps {
  readonly values: FormValues;
  readonly issues: ControlProps['issues'];
  readonly onChange: (values: FormValues) => void;
  /** The organization whose keys suggest tags, policies and APIs. */
  readonly orgID: string | undefined;
  /** The requests counted in the present period. */
  readonly used?: Integer | undefined;
  /** The policy that each value of the stored key comes from; undefined for its own. */
  readonly policyOf?: ShownLimits['policyOf'];
  /** Which secrets are stored, by the names of their fields. */
  readonly stored?: ReadonlySet<string>;
}

const month = 2_592_000;
const delayMs = 250;

/** The fields of a definition: those that people change first, and all others by topic. */
export function KeyForm({
  values,
  issues,
  onChange,
  orgID,
  used,
  policyOf = () => undefined,
  stored = new Set(),
}: KeyFormProps) {
  const client = useClient('service');
  const id = useId();
  const [suggestions, setSuggestions] = useState(noSuggestions);
  useEffect(() => {
    let isCurrent = true;
    // Not for each letter of an organization that is typed.
    const timer = setTimeout(() => {
      void readSuggestions(client, orgID).then((found) => isCurrent && setSuggestions(found));
    }, delayMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [client, orgID]);
  const change: ControlProps['onChange'] = (changes) =>
    onChange(Object.entries(changes).reduce((next, [name, value]) => withValue(next, name, value), values));
  const control = { values, issues, onChange: change };
  return (
    <>
      <div class="fields">
        <FieldBox
          id={`${id}-name`}
          label={editText.name.label}
          hint={editText.name.hint}
          names={['alias']}
          issues={issues}
        >
          <input
            id={`${id}-name`}
            data-path="alias"
            autocomplete="off"
            aria-describedby={`${id}-name-hint`}
            value={textOf(values['alias'])}
            onInput={(event) => change({ alias: event.currentTarget.value || undefined })}
          />
        </FieldBox>
        <div class="row">
          <FieldBox id={`${id}-state`} label={editText.active.label} names={['isInactive']} issues={issues}>
            <select
              id={`${id}-state`}
              data-path="isInactive"
              onChange={(event) => change({ isInactive: event.currentTarget.value === 'off' ? true : undefined })}
            >
              <option value="on" selected={values['isInactive'] !== true}>
                {editText.active.on}
              </option>
              <option value="off" selected={values['isInactive'] === true}>
                {editText.active.off}
              </option>
            </select>
          </FieldBox>
          <ExpiryField {...control} />
        </div>
        <AmountField
          {...control}
          name="rate"
          period="per"
          texts={editText.rate}
          defaultPeriod={60}
          hint={governedHint(policyOf('rate'))}
        />
        <AmountField
          {...control}
          name="quotaMax"
          period="quotaRenewalRate"
          texts={editText.quota}
          defaultPeriod={month}
          hint={governedHint(policyOf('quotaMax')) ?? usedHint(used)}
        />
        <PoliciesField {...control} suggestions={suggestions} />
        <AccessField {...control} apis={suggestions.apis} />
        <FieldBox label={editText.tags.label} hint={editText.tags.hint} names={['tags']} issues={issues}>
          <Chips
            label={editText.tags.label}
            path="tags"
            add={editText.tags.add}
            values={textsOf(values['tags'])}
            suggestions={suggestions.tags}
            onChange={(tags) => change({ tags })}
          />
        </FieldBox>
      </div>
      <div class="advanced">
        <h2>{editText.advanced}</h2>
        {advancedFields()
          .filter(([, fields]) => fields.length > 0)
          .map(([topic, fields]) => (
            <Topic
              key={topic}
              title={editText.topics[topic]}
              fields={fields}
              values={values}
              issues={issues}
              stored={stored}
              onChange={onChange}
            />
          ))}
      </div>
    </>
  );
}

interface TopicProps extends Omit<KeyFormProps, 'orgID' | 'used' | 'policyOf'> {
  readonly title: string;
  readonly fields: readonly FormField[];
  readonly stored: ReadonlySet<string>;
}

function Topic({ title, fields, values, issues, stored, onChange }: TopicProps) {
  const set = fields.filter(({ name }) => values[name] != null || stored.has(name)).map(({ name }) => labelOf(name));
  const hasIssue = issues.some(({ path }) => fields.some(({ name }) => isWithin(path, name)));
  return (
    <details open={hasIssue || undefined}>
      <summary>
        {title} {set.length > 0 && <small>{editText.topicSet(set.join(', '))}</small>}
      </summary>
      <Form fields={fields} values={values} issues={issues} onChange={onChange} />
    </details>
  );
}
