import { useState } from 'preact/hooks';
import { ResumeKeyWebhookDocument, TestKeyWebhookDocument } from '../../client/client.js';
import { formatTime } from '../format.js';
import { Button, QuietButton } from '../parts/button.js';
import { Menu } from '../parts/menu.js';
import { PageHead } from '../parts/page-head.js';
import { Problem } from '../parts/problem.js';
import { Ago } from '../parts/time.js';
import { required } from '../results.js';
import { Link, navigate, useAddress } from '../router.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { useInterval } from '../use-interval.js';
import { useAction, useLoad } from '../use-load.js';
import { webhookIDAt, webhooksAddress } from '../webhook-address.js';
import { PauseWebhook, RemoveWebhook, RotateWebhook } from './change-dialogs.js';
import { DeadLetters } from './dead-letters.js';
import { nameOfWebhook, readWebhook, type WebhookDetails } from './read-webhooks.js';
import { Retries } from './retries.js';
import { webhooksText as texts } from './strings.js';
import { WebhookState } from './webhook-state.js';

/** How often the page is read again, in milliseconds: deliveries go on while it is open. */
const pollMs = 5_000;

type ChangeName = 'pause' | 'rotate' | 'remove';

const dialogs = { pause: PauseWebhook, rotate: RotateWebhook, remove: RemoveWebhook };

/** One webhook: whether it works, what fails, and what was given up. */
export function WebhookView() {
  const client = useClient('service');
  const { pathname, searchParams } = useAddress();
  const id = webhookIDAt(pathname) ?? '';
  const after = searchParams.get('after');
  const [change, setChange] = useState<ChangeName>();
  const [note, setNote] = useState<string>();
  const page = useLoad((signal) => readWebhook(client, id, after, signal), [client, id, after]);
  useInterval(page.reload, page.data ? pollMs : undefined);
  const { webhook, problem } = page.data ?? {};
  const name = webhook ? nameOfWebhook(webhook) : texts.unnamed(id);
  const afterChange = (isReleased: boolean) => {
    setNote(isReleased ? undefined : texts.notReleased);
    if (change === 'remove') navigate(webhooksAddress);
    else page.reload();
  };
  const Changing = change && dialogs[change];
  return (
    <>
      <PageHead
        title={name}
        trail={<Link to={webhooksAddress}>{text.nav.webhooks}</Link>}
        beside={webhook && <WebhookState {...webhook} />}
        actions={webhook && <Actions webhook={webhook} onChange={setChange} onDone={afterChange} />}
      >
        {webhook && <Facts webhook={webhook} />}
      </PageHead>
      <Problem error={page.error ?? problem} retry={page.reload} />
      <p role="status" class="quiet-text">
        {note}
      </p>
      {webhook && (
        <>
          {webhook.pausedAt !== null && (
            <p class="note warn">
              <span>
                <b>{texts.pausedSince}</b> <Ago at={webhook.pausedAt} />
                {webhook.pausedReason !== null && `: ${webhook.pausedReason}`}
              </span>
            </p>
          )}
          <Retries webhook={webhook} />
          <DeadLetters webhook={webhook} isLaterPage={after !== null} onChanged={afterChange} />
        </>
      )}
      {Changing && <Changing id={id} name={name} onDone={afterChange} onClose={() => setChange(undefined)} />}
    </>
  );
}

/** What the webhook sends where, as a line of facts. */
function Facts({ webhook }: { readonly webhook: WebhookDetails }) {
  const { id, receiver, orgID, eventTypes, createdAt, oldSecretUntil } = webhook;
  return (
    <>
      <span>
        {texts.identifier} <code>{id}</code>
      </span>
      <span>
        {texts.columns.receiver}: {receiver ?? texts.unreadable}
      </span>
      <span>
        {texts.columns.organization}: {orgID ?? texts.all}
      </span>
      <span>
        {texts.columns.events}: {eventTypes === null ? texts.all : eventTypes.join(', ')}
      </span>
      <span>
        {texts.createdAt} <Ago at={createdAt} />
      </span>
      {oldSecretUntil !== null && new Date(oldSecretUntil).getTime() > Date.now() && (
        <span>
          {texts.oldSecret} {formatTime(oldSecretUntil)}
        </span>
      )}
    </>
  );
}

interface ActionsProps {
  readonly webhook: WebhookDetails;
  readonly onChange: (change: ChangeName) => void;
  readonly onDone: (isReleased: boolean) => void;
}

function Actions({ webhook: { id, pausedAt }, onChange, onDone }: ActionsProps) {
  const client = useClient('service');
  const resume = useAction(async () => {
    const { data, errors } = await client.send(ResumeKeyWebhookDocument, { id });
    onDone(required(data.resumeKeyWebhook, errors, texts.notFound).isReleased);
  });
  return (
    <>
      <Test id={id} />
      <Problem error={resume.error} />
      {pausedAt === null ? (
        <Button onClick={() => onChange('pause')}>{texts.pause}</Button>
      ) : (
        <Button class="primary" disabled={resume.isRunning} onClick={() => void resume.run()}>
          {texts.resume}
        </Button>
      )}
      <Menu label={text.more} class="actions-menu">
        <QuietButton data-closes onClick={() => onChange('rotate')}>
          {texts.rotate}
        </QuietButton>
        <QuietButton data-closes class="quiet danger" onClick={() => onChange('remove')}>
          {texts.remove}
        </QuietButton>
      </Menu>
    </>
  );
}

/** Sends a test message, and says what became of it. */
function Test({ id }: { readonly id: string }) {
  const client = useClient('service');
  const [result, setResult] = useState<string>();
  const test = useAction(async () => {
    setResult(undefined);
    const { data, errors } = await client.send(TestKeyWebhookDocument, { id });
    const { isDelivered, status, failure } = required(data.testKeyWebhook, errors, texts.notFound);
    setResult(isDelivered ? texts.delivered(status) : texts.failed(failure));
  });
  return (
    <>
      <span role="status">{result}</span>
      <Problem error={test.error} />
      <Button disabled={test.isRunning} onClick={() => void test.run()}>
        {test.isRunning ? texts.testing : texts.test}
      </Button>
    </>
  );
}
