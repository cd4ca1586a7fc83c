import { formatList } from '../format.js';
import type { Suggestions } from '../suggestions.js';
import { textsOf } from './allowed-paths.js';
import { Chips } from './chips-field.js';
import { FieldBox, type ControlProps } from './field.js';
import { editText } from './strings.js';

const texts = editText.policies;

interface PoliciesFieldProps extends ControlProps {
  readonly suggestions: Pick<Suggestions, 'policies' | 'arePoliciesKnown'>;
}

/** The policies that the key names. Says at once which of them are not imported. */
export function PoliciesField({ values, issues, onChange, suggestions }: PoliciesFieldProps) {
  const named = textsOf(values['applyPolicies']);
  const unknown = suggestions.arePoliciesKnown ? named.filter((name) => !suggestions.policies.includes(name)) : [];
  return (
    <FieldBox label={texts.label} hint={texts.hint} names={['applyPolicies']} issues={issues}>
      <Chips
        label={texts.label}
        path="applyPolicies"
        add={texts.add}
        values={named}
        suggestions={suggestions.policies}
        onChange={(applyPolicies) => onChange({ applyPolicies })}
      />
      <div role="status">
        {unknown.length > 0 && <p class="note warn">{texts.unknown(formatList(unknown), unknown.length)}</p>}
      </div>
    </FieldBox>
  );
}
