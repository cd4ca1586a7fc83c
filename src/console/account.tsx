import { useState } from 'preact/hooks';
import { formatList } from './format.js';
import { Menu } from './parts/menu.js';
import { QuietButton } from './parts/button.js';
import { OtherPages } from './parts/other-pages.js';
import { readPreferences, savePreferences, type Preferences } from './preferences.js';
import { useSession } from './session.js';
import { text } from './strings.js';

/** Who is signed in, what the credential may do, and how the console looks. */
export function Account({ onShortcuts }: { readonly onShortcuts: () => void }) {
  const { clients, viewer, signOut } = useSession();
  const [preferences, setPreferences] = useState(readPreferences);
  const change = (changes: Partial<Preferences>) => {
    const next = { ...preferences, ...changes };
    setPreferences(next);
    savePreferences(next);
  };
  const label = viewer?.label ?? text.account.open;
  return (
    <Menu label={<span class="who">{label}</span>} name={`${text.account.open}: ${label}`} class="account">
      {viewer && (
        <dl>
          <dt>{text.account.credential}</dt>
          <dd>{viewer.label}</dd>
          <dt>{text.account.organization}</dt>
          <dd>{viewer.orgID ?? text.account.allOrganizations}</dd>
          <dt>{text.account.may}</dt>
          <dd>{formatList(viewer.scopes.map((scope) => text.scopes[scope])) || text.account.nothing}</dd>
        </dl>
      )}
      <Choice
        label={text.account.theme}
        options={text.account.themes}
        value={preferences.theme}
        onChange={(theme) => change({ theme })}
      />
      <Choice
        label={text.account.density}
        options={text.account.densities}
        value={preferences.density}
        onChange={(density) => change({ density })}
      />
      <div class="actions">
        <OtherPages />
      </div>
      <div class="actions">
        <QuietButton data-closes onClick={onShortcuts}>
          {text.account.shortcuts}
        </QuietButton>
        {Object.keys(clients).length > 0 && (
          <QuietButton data-closes onClick={signOut}>
            {text.signIn.signOut}
          </QuietButton>
        )}
      </div>
    </Menu>
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly options: Readonly<Record<Value, string>>;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

function Choice<Value extends string>({ label, options, value, onChange }: ChoiceProps<Value>) {
  return (
    <label class="inline">
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
        {Object.entries<string>(options).map(([option, shown]) => (
          <option key={option} value={option} selected={option === value}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}
