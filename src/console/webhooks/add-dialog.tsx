import { useId, useState } from 'preact/hooks';
import { AddKeyWebhookDocument, type AddKeyWebhookMutationVariables, type KeyfrontIssue } from '../../client/client.js';
import { FieldBox } from '../edit/field.js';
import { formText } from '../format.js';
import { eventTypes } from '../generated/event-types.js';
import { QuietButton } from '../parts/button.js';
import { Choices } from '../parts/choices.js';
import { closeDialog, Dialog } from '../parts/dialog.js';
import { OrganizationField, organizationIn } from '../parts/organization-field.js';
import { Problem } from '../parts/problem.js';
import { LostSecret, SecretShown } from '../parts/secret-shown.js';
import { required } from '../results.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { useIdempotencyKeys } from '../use-idempotency-keys.js';
import { useAction, type UserAction } from '../use-load.js';
import { nameOfWebhook, rotate, type Webhook } from './read-webhooks.js';
import { webhooksText as texts } from './strings.js';

interface AddDialogProps {
  /** The organization that the page shows. */
  readonly orgID: string | undefined;
  readonly onClose: () => void;
}

const none: readonly KeyfrontIssue[] = [];

/** Adds a webhook, and shows its signing secret. */
export function AddDialog({ orgID, onClose }: AddDialogProps) {
  const client = useClient('service');
  const keyOf = useIdempotencyKeys();
  const [added, setAdded] = useState<{ readonly webhook: Webhook; readonly secret: string | null }>();
  const add = useAction(async (request: AddKeyWebhookMutationVariables) => {
    const variables = { ...request, idempotencyKey: keyOf(request) };
    const { data, errors } = await client.send(AddKeyWebhookDocument, variables);
    const { webhook, secret } = required(data.addKeyWebhook, errors, texts.notFound);
    // A repeated request has no secret: that of the first one stays.
    setAdded((first) => (first?.secret != null ? first : { webhook, secret }));
  });
  return (
    <Dialog title={added ? texts.added(nameOfWebhook(added.webhook)) : texts.addTitle} onClose={onClose}>
      {!added && <AddForm shownOrg={orgID} add={add} />}
      {added?.secret === null && (
        <LostSecret
          renew={async () => {
            const { webhook, secret } = await rotate(client, added.webhook.id, 0);
            setAdded({ webhook, secret });
          }}
        >
          {texts.lost}
        </LostSecret>
      )}
      {added?.secret != null && <SecretShown secret={added.secret} label={texts.secret} hint={texts.secretHint} />}
    </Dialog>
  );
}

interface AddFormProps {
  readonly shownOrg: string | undefined;
  readonly add: UserAction<[AddKeyWebhookMutationVariables]>;
}

function AddForm({ shownOrg, add: { run, error, isRunning } }: AddFormProps) {
  const id = useId();
  const [isLimited, setIsLimited] = useState(false);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [isIncomplete, setIsIncomplete] = useState(false);
  const issues = error?.code === 'INVALID' ? error.issues : none;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const needsEvent = isLimited && chosen.length === 0;
    setIsIncomplete(needsEvent);
    if (needsEvent) return;
    void run({
      url: formText(event.currentTarget, 'url'),
      label: formText(event.currentTarget, 'label'),
      orgID: organizationIn(event.currentTarget),
      eventTypes: isLimited ? [...chosen] : null,
    });
  };
  return (
    <form class="stack" onSubmit={submit}>
      <FieldBox id={`${id}-url`} label={texts.url} hint={texts.urlHint} names={['url']} issues={issues}>
        <input
          id={`${id}-url`}
          name="url"
          type="url"
          required
          maxLength={2000}
          autocomplete="off"
          placeholder="https://"
          aria-describedby={`${id}-url-hint`}
        />
      </FieldBox>
      <FieldBox id={`${id}-label`} label={texts.label} hint={texts.labelHint} names={['label']} issues={issues}>
        <input
          id={`${id}-label`}
          name="label"
          maxLength={200}
          autocomplete="off"
          aria-describedby={`${id}-label-hint`}
        />
      </FieldBox>
      <OrganizationField shown={shownOrg} issues={issues} />
      <div class="field">
        <label for={`${id}-events`}>{texts.chosen}</label>
        <select id={`${id}-events`} onChange={(event) => setIsLimited(event.currentTarget.value === 'some')}>
          <option value="all" selected={!isLimited}>
            {texts.allEvents}
          </option>
          <option value="some" selected={isLimited}>
            {texts.someEvents}
          </option>
        </select>
      </div>
      {isLimited && (
        <FieldBox label={texts.someEvents} names={['eventTypes']} issues={issues}>
          <Choices
            offered={eventTypes}
            chosen={chosen}
            onChange={setChosen}
            problem={isIncomplete ? texts.noEvent : undefined}
          >
            {(type) => type}
          </Choices>
        </FieldBox>
      )}
      <Problem error={error} />
      <div class="actions">
        <button type="submit" class="primary" disabled={isRunning}>
          {texts.addNow}
        </button>
        <QuietButton onClick={closeDialog}>{text.cancel}</QuietButton>
      </div>
    </form>
  );
}
