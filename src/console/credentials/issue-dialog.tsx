import { useId, useState } from 'preact/hooks';
import {
  IssueKeyCredentialDocument,
  type IssueKeyCredentialMutationVariables,
  type KeyCredentialKind,
  type KeyfrontIssue,
  type KeyScope,
} from '../../client/client.js';
import { ExpiryField } from '../edit/expiry-field.js';
import { FieldBox } from '../edit/field.js';
import { formText } from '../format.js';
import { QuietButton } from '../parts/button.js';
import { Choices } from '../parts/choices.js';
import { closeDialog, Dialog } from '../parts/dialog.js';
import { OrganizationField, organizationIn } from '../parts/organization-field.js';
import { Problem } from '../parts/problem.js';
import { LostSecret, SecretShown } from '../parts/secret-shown.js';
import { required } from '../results.js';
import { useClient, useSession } from '../session.js';
import { text } from '../strings.js';
import { useIdempotencyKeys } from '../use-idempotency-keys.js';
import { useAction, type UserAction } from '../use-load.js';
import { rotate, type Issued } from './read-credentials.js';
import { credentialsText as texts } from './strings.js';

interface IssueDialogProps {
  /** The organization that the page shows. */
  readonly orgID: string | undefined;
  readonly onClose: () => void;
}

const none: readonly KeyfrontIssue[] = [];

/** Issues a credential, and shows its secret. */
export function IssueDialog({ orgID, onClose }: IssueDialogProps) {
  const client = useClient('service');
  const keyOf = useIdempotencyKeys();
  const [issued, setIssued] = useState<Issued>();
  const issue = useAction(async (request: IssueKeyCredentialMutationVariables) => {
    const variables = { ...request, idempotencyKey: keyOf(request) };
    const { data, errors } = await client.send(IssueKeyCredentialDocument, variables);
    const { credential, secret } = required(data.issueKeyCredential, errors, texts.notFound);
    // A repeated request has no secret: that of the first one stays.
    setIssued((first) => (first?.secret != null ? first : { credential, secret }));
  });
  const title = issued ? texts.issued(issued.credential.label) : texts.issueTitle;
  return (
    <Dialog title={title} onClose={onClose}>
      {!issued && <IssueForm shownOrg={orgID} issue={issue} />}
      {issued?.secret === null && (
        <LostSecret renew={async () => setIssued(await rotate(client, issued.credential.id, 0))}>
          {texts.lost}
        </LostSecret>
      )}
      {issued?.secret != null && <SecretShown secret={issued.secret} label={texts.secret} hint={texts.secretHint} />}
    </Dialog>
  );
}

interface IssueFormProps {
  readonly shownOrg: string | undefined;
  readonly issue: UserAction<[IssueKeyCredentialMutationVariables]>;
}

function IssueForm({ shownOrg, issue: { run, error, isRunning } }: IssueFormProps) {
  const { viewer } = useSession();
  const id = useId();
  const offered = viewer?.scopes ?? [];
  const [kind, setKind] = useState<KeyCredentialKind>('SERVICE');
  const [scopes, setScopes] = useState<readonly KeyScope[]>(offered.filter((scope) => scope === 'READ'));
  const [expires, setExpires] = useState<unknown>();
  const [isIncomplete, setIsIncomplete] = useState(false);
  const issues = error?.code === 'INVALID' ? error.issues : none;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const needsScope = kind === 'SERVICE' && scopes.length === 0;
    setIsIncomplete(needsScope);
    if (needsScope) return;
    void run({
      kind,
      label: formText(event.currentTarget, 'label'),
      orgID: organizationIn(event.currentTarget),
      scopes: kind === 'SERVICE' ? [...scopes] : null,
      expiresAt: expires === undefined ? null : new Date(Number(expires) * 1000).toISOString(),
    });
  };
  return (
    <form class="stack" onSubmit={submit}>
      <FieldBox id={`${id}-label`} label={texts.label} hint={texts.labelHint} names={['label']} issues={issues}>
        <input
          id={`${id}-label`}
          name="label"
          required
          maxLength={200}
          autocomplete="off"
          aria-describedby={`${id}-label-hint`}
        />
      </FieldBox>
      <div class="field">
        <label for={`${id}-kind`}>{texts.kind}</label>
        <select
          id={`${id}-kind`}
          onChange={(event) => setKind(event.currentTarget.value === 'MANAGEMENT' ? 'MANAGEMENT' : 'SERVICE')}
        >
          {Object.entries(texts.kindOptions).map(([value, label]) => (
            <option key={value} value={value} selected={value === kind}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <OrganizationField shown={shownOrg} issues={issues} />
      {kind === 'SERVICE' && (
        <FieldBox label={texts.scopes} hint={texts.scopesHint} names={['scopes']} issues={issues}>
          <Choices
            offered={offered}
            chosen={scopes}
            onChange={setScopes}
            problem={isIncomplete ? texts.noScope : undefined}
          >
            {(scope) => (
              <>
                <b>{scope.toLowerCase()}</b> <small>{text.scopes[scope]}</small>
              </>
            )}
          </Choices>
        </FieldBox>
      )}
      <ExpiryField
        values={{ expires }}
        issues={issues.map((one) => (one.path === 'expiresAt' ? { ...one, path: 'expires' } : one))}
        onChange={(changes) => setExpires(changes['expires'])}
      />
      <Problem error={error} />
      <div class="actions">
        <button type="submit" class="primary" disabled={isRunning}>
          {texts.issueNow}
        </button>
        <QuietButton onClick={closeDialog}>{text.cancel}</QuietButton>
      </div>
    </form>
  );
}
