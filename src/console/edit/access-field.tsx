import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { KeyfrontIssue } from '../../client/client.js';
import { formFields } from '../generated/form-fields.js';
import { summaryOf } from '../key/limits.js';
import { Button, QuietButton } from '../parts/button.js';
import { pathsToText, textOf, textsOf, textToPaths } from './allowed-paths.js';
import { Chips } from './chips-field.js';
import { FieldBox, type ControlProps } from './field.js';
import { Form, isWithin } from './form.js';
import { isFormValues, withValue, type FormValues } from './form-values.js';
import { editText } from './strings.js';
import { useDraft } from './use-draft.js';

const texts = editText.access;
const rare = new Set(['apiName', 'label', 'limit']);
const rareFields = (formFields.find(({ name }) => name === 'accessRights')?.fields ?? []).filter(({ name }) =>
  rare.has(name),
);

interface AccessFieldProps extends ControlProps {
  /** The APIs that are suggested. */
  readonly apis: readonly string[];
  readonly hint?: string;
}

/** The APIs that the key may call, each with its paths, versions and limits. */
export function AccessField({ values, issues, onChange, apis, hint = texts.hint }: AccessFieldProps) {
  const rights = Array.isArray(values['accessRights']) ? values['accessRights'].filter(isFormValues) : [];
  const change = (next: readonly FormValues[]) => onChange({ accessRights: next.length > 0 ? next : undefined });
  const own = issues.filter(({ path }) => path === 'accessRights');
  return (
    <FieldBox label={texts.label} hint={hint} names={['accessRights']} issues={own}>
      <div class="rights">
        {rights.map((right, index) => (
          <Right
            key={index}
            right={right}
            path={`accessRights[${index}]`}
            issues={issues}
            apis={apis}
            onChange={(next) => change(rights.with(index, next))}
            onRemove={() => change(rights.filter((_, other) => other !== index))}
          />
        ))}
        <Button data-path="accessRights" onClick={() => change([...rights, {}])}>
          {texts.add}
        </Button>
      </div>
    </FieldBox>
  );
}

interface RightProps {
  readonly right: FormValues;
  readonly path: string;
  readonly issues: readonly KeyfrontIssue[];
  readonly apis: readonly string[];
  readonly onChange: (right: FormValues) => void;
  readonly onRemove: () => void;
}

function Right({ right, path, issues, apis, onChange, onRemove }: RightProps) {
  const id = useId();
  const isUntouched = Object.keys(right).length === 0;
  // A new entry is no mistake yet.
  const own = isUntouched ? [] : issues.filter((issue) => isWithin(issue.path, path));
  const apiID = textOf(right['apiID']);
  const apiField = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isUntouched) apiField.current?.focus();
  }, []);
  // A new entry is open.
  const [isOpen] = useState(apiID === '');
  const [shownPaths, setPaths] = useDraft(right['allowedUrls'], textToPaths, pathsToText);
  const set = (name: string, value: unknown) => onChange(withValue(right, name, value));
  const name = textOf(right['apiName']) || apiID || textOf(right['label']) || texts.unnamed;
  const setAPI = (value: string) => {
    // Gateways find an entry by its API: the label is the same, unless somebody has chosen another one.
    const label = textOf(right['label']);
    const next = withValue(right, 'apiID', value || undefined);
    onChange(label === '' || label === apiID ? withValue(next, 'label', value || undefined) : next);
  };
  return (
    <details class="right" open={isOpen || own.length > 0}>
      <summary>
        <b>{name}</b> <small>{summaryOf(right as Parameters<typeof summaryOf>[0])}</small>
      </summary>
      <div class="stack">
        <FieldBox id={`${id}-api`} label={texts.api} names={[`${path}.apiID`, `${path}.label`]} issues={own}>
          <input
            id={`${id}-api`}
            ref={apiField}
            data-path={`${path}.apiID`}
            list={`${id}-apis`}
            autocomplete="off"
            value={apiID}
            onInput={(event) => setAPI(event.currentTarget.value)}
          />
          <datalist id={`${id}-apis`}>
            {apis.map((api) => (
              <option key={api} value={api} />
            ))}
          </datalist>
        </FieldBox>
        <FieldBox
          id={`${id}-paths`}
          label={texts.paths}
          hint={texts.pathsHint}
          names={[`${path}.allowedUrls`]}
          issues={own}
        >
          <textarea
            id={`${id}-paths`}
            data-path={`${path}.allowedUrls`}
            rows={2}
            spellcheck={false}
            aria-describedby={`${id}-paths-hint`}
            value={shownPaths}
            onInput={({ currentTarget: { value } }) => {
              setPaths(value);
              set('allowedUrls', textToPaths(value));
            }}
          />
        </FieldBox>
        <FieldBox label={texts.versions} names={[`${path}.versions`]} issues={own}>
          <Chips
            label={texts.versions}
            path={`${path}.versions`}
            add={texts.addVersion}
            values={textsOf(right['versions'])}
            suggestions={['Default']}
            onChange={(versions) => set('versions', versions)}
          />
        </FieldBox>
        <details>
          <summary>{texts.more}</summary>
          <Form fields={rareFields} values={right} path={`${path}.`} issues={own} onChange={onChange} />
        </details>
        <div>
          <QuietButton class="quiet danger" onClick={onRemove}>
            {texts.remove(name)}
          </QuietButton>
        </div>
      </div>
    </details>
  );
}
