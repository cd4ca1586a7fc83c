import type { DefinitionFragment } from '../../client/client.js';
import type { FormField } from '../form-field.js';
import { formatInteger, formatNumber, formatTime, formatValue } from '../format.js';
import { formFields } from '../generated/form-fields.js';
import { text } from '../strings.js';

/** The fields of a definition that are set. Secrets are shown as set or not set. */
export function Definition({ definition }: { readonly definition: DefinitionFragment | null }) {
  return (
    <section class="card" aria-labelledby="definition">
      <h2 id="definition">{text.key.definition}</h2>
      {definition ? <Fields fields={formFields} value={definition} /> : <p class="problem">{text.none}</p>}
    </section>
  );
}

type DefinitionMembers = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is DefinitionMembers => typeof value === 'object' && value !== null;

function Fields({ fields, value }: { readonly fields: readonly FormField[]; readonly value: DefinitionMembers }) {
  const shown = fields.filter(({ name, isSecret }) => value[isSecret ? `${name}Set` : name] != null);
  return (
    <dl class="definition">
      {shown.map((field) => (
        <div key={field.name}>
          <dt title={field.description}>{field.name}</dt>
          <dd>
            {field.isSecret ? secretOf(value[`${field.name}Set`]) : <Value field={field} value={value[field.name]} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function secretOf(isSet: unknown): string {
  return isSet === true ? text.key.set : text.key.notSet;
}

function Value({ field, value }: { readonly field: FormField; readonly value: unknown }) {
  const { fields, unit } = field;
  if (fields && Array.isArray(value)) {
    return (
      <ol>
        {value.filter(isMembers).map((item, index) => (
          <li key={index}>
            <Fields fields={fields} value={item} />
          </li>
        ))}
      </ol>
    );
  }
  if (fields && isMembers(value)) return <Fields fields={fields} value={value} />;
  if (Array.isArray(value)) return <>{value.map(formatValue).join(', ')}</>;
  if (unit === 'Unix seconds') return <>{`${formatTime(value as number)} (${formatValue(value)})`}</>;
  const shown = formatScalar(field, value);
  return <>{unit === undefined ? shown : `${shown} ${unit}`}</>;
}

function formatScalar({ type }: FormField, value: unknown): string {
  if (type === 'Int64') return formatInteger(value as number);
  if (type === 'KeyDateTime') return formatTime(value as string);
  return typeof value === 'number' ? formatNumber(value) : formatValue(value);
}
