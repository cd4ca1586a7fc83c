import { useId, useState } from 'preact/hooks';
import { CreateOrgKeyDocument, type CreateOrgKeyMutation, type KeyfrontIssue } from '../../client/client.js';
import { FieldBox } from '../edit/field.js';
import { KeyForm } from '../edit/key-form.js';
import type { FormValues } from '../edit/form-values.js';
import { Warnings } from '../parts/warnings.js';
import { formText } from '../format.js';
import { keyAddress } from '../key-address.js';
import { newIdempotencyKey } from '../idempotency-key.js';
import { Button } from '../parts/button.js';
import { NewSecret } from '../parts/new-secret.js';
import { PageHead } from '../parts/page-head.js';
import { Problem } from '../parts/problem.js';
import { Reason } from '../parts/dialog.js';
import { Link, useUnsavedWarning } from '../router.js';
import { useClient, useSession } from '../session.js';
import { text } from '../strings.js';
import { required } from '../results.js';
import { useAction } from '../use-load.js';
import { createText } from './strings.js';

type Created = NonNullable<CreateOrgKeyMutation['createOrgKey']>;

const none: readonly KeyfrontIssue[] = [];

/** Creates a key, and shows its identifier. */
export function CreateView() {
  const client = useClient('service');
  const { viewer } = useSession();
  const ownOrg = viewer?.orgID ?? undefined;
  const [values, setValues] = useState<FormValues>({});
  const [orgID, setOrgID] = useState(ownOrg ?? '');
  const [created, setCreated] = useState<Created>();
  // A repeated request with the same key creates nothing more.
  const [idempotencyKey, setIdempotencyKey] = useState(newIdempotencyKey);
  const create = useAction(async (form: HTMLFormElement) => {
    const input = { ...values, ...(orgID !== '' && { orgID }) };
    const { data, errors } = await client.send(CreateOrgKeyDocument, {
      input,
      keyID: formText(form, 'keyID') || null,
      prefix: formText(form, 'prefix') || null,
      reason: formText(form, 'reason') || null,
      idempotencyKey,
    });
    setCreated(required(data.createOrgKey, errors, text.notFound));
  });
  useUnsavedWarning(Object.keys(values).length > 0 && !created);
  const id = useId();
  if (created) {
    const again = () => {
      setCreated(undefined);
      setValues({});
      setIdempotencyKey(newIdempotencyKey());
    };
    return <Done created={created} name={nameOfValues(values)} onAgain={again} />;
  }
  const issues = create.error?.code === 'INVALID' ? create.error.issues.map(withoutInput) : none;
  const change = (next: FormValues) => {
    setValues(next);
    // Another definition is another request.
    if (create.error) setIdempotencyKey(newIdempotencyKey());
  };
  return (
    <>
      <PageHead title={createText.title} trail={<Link to="/console">{text.nav.keys}</Link>} />
      <form
        class="grid edit"
        onSubmit={(event) => {
          event.preventDefault();
          void create.run(event.currentTarget);
        }}
        onKeyDown={(event) => {
          // Enter in a field of many does not create a key.
          if (event.key === 'Enter' && event.target instanceof HTMLInputElement) event.preventDefault();
        }}
      >
        <div class="panel body stack">
          <FieldBox
            id={`${id}-org`}
            label={createText.org.label}
            hint={ownOrg === undefined ? createText.org.hint : text.organization.own}
            names={['orgID']}
            issues={issues}
          >
            <input
              id={`${id}-org`}
              data-path="orgID"
              autocomplete="off"
              required
              disabled={ownOrg !== undefined}
              aria-describedby={`${id}-org-hint`}
              value={orgID}
              onInput={(event) => setOrgID(event.currentTarget.value)}
            />
          </FieldBox>
          <KeyForm values={values} issues={issues} onChange={change} orgID={orgID || undefined} />
          <IdentifierFields issues={issues} />
        </div>
        <div class="panel pending">
          <header>
            <h2>{createText.aside}</h2>
          </header>
          <div class="body stack">
            <p class="quiet-text">{createText.explanation}</p>
            <Problem error={create.error} />
            <Reason />
            <div class="actions">
              <button type="submit" class="primary" disabled={create.isRunning}>
                {createText.submit}
              </button>
              <Link class="button quiet" to="/console">
                {text.cancel}
              </Link>
            </div>
          </div>
        </div>
      </form>
    </>
  );
}

function IdentifierFields({ issues }: { readonly issues: readonly KeyfrontIssue[] }) {
  const id = useId();
  const texts = createText.identifier;
  return (
    <details class="advanced">
      <summary>
        {texts.title} <small>{texts.hint}</small>
      </summary>
      <div class="stack">
        <FieldBox id={`${id}-prefix`} label={texts.prefix} hint={texts.prefixHint} names={['prefix']} issues={issues}>
          <input id={`${id}-prefix`} name="prefix" autocomplete="off" aria-describedby={`${id}-prefix-hint`} />
        </FieldBox>
        <FieldBox id={`${id}-own`} label={texts.own} hint={texts.ownHint} names={['keyID']} issues={issues}>
          <input id={`${id}-own`} name="keyID" autocomplete="off" aria-describedby={`${id}-own-hint`} />
        </FieldBox>
      </div>
    </details>
  );
}

interface DoneProps {
  readonly created: Created;
  readonly name: string;
  readonly onAgain: () => void;
}

/** The identifier of the new key, to be copied or downloaded. */
function Done({ created: { orgKey, warnings }, name, onAgain }: DoneProps) {
  const texts = createText.done;
  const keyID = orgKey?.keyID ?? '';
  return (
    <>
      <PageHead title={texts.title(name)} trail={<Link to="/console">{text.nav.keys}</Link>} />
      <section class="panel" aria-labelledby="identifier">
        <header>
          <h2 id="identifier">{text.newIdentifier.label}</h2>
        </header>
        <div class="body stack">
          <NewSecret {...text.newIdentifier} value={keyID} fileName={`${orgKey?.orgID ?? 'key'}-${name}`} />
          <Warnings warnings={warnings} />
          <div class="actions">
            {orgKey && (
              <Link class="button" to={keyAddress(orgKey.keyHash)}>
                {texts.open}
              </Link>
            )}
            <Button onClick={onAgain}>{texts.another}</Button>
          </div>
        </div>
      </section>
    </>
  );
}

function nameOfValues({ alias }: FormValues): string {
  return typeof alias === 'string' && alias !== '' ? alias : 'The key';
}

/** An issue of the argument `input` as one of the definition. */
function withoutInput(issue: KeyfrontIssue): KeyfrontIssue {
  return { ...issue, path: issue.path.replace(/^input\./, '') };
}
