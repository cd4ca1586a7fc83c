import type { ComponentChildren } from 'preact';
import type { KeyfrontIssue } from '../../client/client.js';
import { isWithin, Issues } from './form.js';
import type { FormValues } from './form-values.js';

/** What a control of the form gets. */
export interface ControlProps {
  readonly values: FormValues;
  readonly issues: readonly KeyfrontIssue[];
  /** Replaces fields; undefined removes one. */
  readonly onChange: (changes: Readonly<Record<string, unknown>>) => void;
}

interface FieldBoxProps {
  /** The id of the control that the label is for; absent for a group of controls. */
  readonly id?: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The fields of the definition whose problems stand here. */
  readonly names: readonly string[];
  readonly issues: readonly KeyfrontIssue[];
  readonly children: ComponentChildren;
}

/** A label, a control, its hint and its problems. */
export function FieldBox({ id, label, hint, names, issues, children }: FieldBoxProps) {
  const own = issues.filter(({ path }) => names.some((name) => isWithin(path, name)));
  const content = (
    <>
      {children}
      {hint !== undefined && <small id={id === undefined ? undefined : `${id}-hint`}>{hint}</small>}
      <Issues issues={own} />
    </>
  );
  return id === undefined ? (
    <fieldset class="field" aria-label={label}>
      <span class="label">{label}</span>
      {content}
    </fieldset>
  ) : (
    <div class="field">
      <label for={id}>{label}</label>
      {content}
    </div>
  );
}
