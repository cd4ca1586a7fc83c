import { useId } from 'preact/hooks';
import type { KeyfrontIssue } from '../../client/client.js';
import { FieldBox } from '../edit/field.js';
import { formText } from '../format.js';
import { useSession } from '../session.js';
import { text } from '../strings.js';

interface OrganizationFieldProps {
  /** The organization that the page shows. */
  readonly shown: string | undefined;
  readonly issues: readonly KeyfrontIssue[];
}

/** The organization of something new, empty for all: that of the viewer, if they are bound to one. */
export function OrganizationField({ shown, issues }: OrganizationFieldProps) {
  const { viewer } = useSession();
  const id = useId();
  const own = viewer?.orgID ?? undefined;
  return (
    <FieldBox
      id={id}
      label={text.organization.filter}
      hint={own === undefined ? text.organization.emptyForAll : text.organization.own}
      names={['orgID']}
      issues={issues}
    >
      <input
        id={id}
        name="orgID"
        autocomplete="off"
        readOnly={own !== undefined}
        defaultValue={own ?? shown ?? ''}
        aria-describedby={`${id}-hint`}
      />
    </FieldBox>
  );
}

/** Reads the organization of a submitted form; null for all. */
export function organizationIn(form: EventTarget | null): string | null {
  return formText(form, 'orgID') || null;
}
