import { toInput, type DefinitionFragment } from '../../client/client.js';
import { formatField } from '../describe-change.js';
import { hintOf, labelOf } from '../fields.js';
import type { FormField } from '../form-field.js';
import { formFields } from '../generated/form-fields.js';
import { CopyButton } from '../parts/button.js';
import type { SectionProps } from './read-key.js';
import { keyText } from './strings.js';

const texts = keyText.more;

type Members = Readonly<Record<string, unknown>>;

/** Fields that the page shows elsewhere. */
const shownElsewhere = new Set([
  ...['alias', 'accessRights', 'applyPolicies', 'expires', 'isInactive', 'orgID', 'per', 'rate', 'tags'],
  ...['quotaMax', 'quotaRenewalRate', 'dateCreated', 'lastUpdated'],
]);

/** The fields that the page shows nowhere else, and the whole definition as JSON. */
export function OtherFields({ found: { definition } }: SectionProps) {
  if (!definition) return null;
  const fields = formFields.filter(({ name }) => !shownElsewhere.has(name));
  const json = JSON.stringify(toInput(definition), null, 2);
  return (
    <section class="panel" aria-labelledby="other">
      <header>
        <h2 id="other">{texts.title}</h2>
      </header>
      <div class="body">
        <Fields fields={fields} value={definition} none={texts.none} />
        <details class="raw">
          <summary>{texts.raw}</summary>
          <CopyButton value={json} label={texts.raw} />
          <pre tabIndex={0}>{json}</pre>
        </details>
      </div>
    </section>
  );
}

/** All fields of a definition that are set, for the preview. */
export function Definition({ definition }: { readonly definition: DefinitionFragment }) {
  return <Fields fields={formFields} value={definition} none={texts.none} />;
}

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null;

interface FieldsProps {
  readonly fields: readonly FormField[];
  readonly value: Members;
  readonly none?: string;
}

function Fields({ fields, value, none = '' }: FieldsProps) {
  const isShown = ({ name, isSecret }: FormField) =>
    isSecret ? value[`${name}Set`] === true : value[name] != null && !isEmptyObject(value[name]);
  const shown = fields.filter(isShown);
  if (shown.length === 0) return <p class="quiet-text">{none}</p>;
  return (
    <dl class="facts">
      {shown.map((field) => (
        <>
          <dt key={field.name} title={hintOf(field)}>
            {labelOf(field.name)}
          </dt>
          <dd>{field.isSecret ? keyText.limits.secretSet : <Value field={field} value={value[field.name]} />}</dd>
        </>
      ))}
    </dl>
  );
}

/** Whether all that an object has is that its secret is not set. */
function isEmptyObject(value: unknown): boolean {
  return isMembers(value) && !Array.isArray(value) && Object.values(value).every((one) => one == null || one === false);
}

function Value({ field, value }: { readonly field: FormField; readonly value: unknown }) {
  const { fields } = field;
  if (fields && Array.isArray(value)) {
    return (
      <ol class="plain">
        {value.filter(isMembers).map((item, index) => (
          <li key={index}>
            <Fields fields={fields} value={item} />
          </li>
        ))}
      </ol>
    );
  }
  if (fields && isMembers(value)) return <Fields fields={fields} value={value} />;
  return <>{formatField(field, value)}</>;
}
