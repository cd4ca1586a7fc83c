import { useState } from 'preact/hooks';
import { DiscardKeyWebhookDeadLettersDocument, ReplayKeyWebhookDeadLettersDocument } from '../../client/client.js';
import { Button } from '../parts/button.js';
import { Confirm } from '../parts/dialog.js';
import { NextPage } from '../parts/page-links.js';
import { Problem } from '../parts/problem.js';
import { TableHead } from '../parts/table-head.js';
import { Ago } from '../parts/time.js';
import { nodesOf, required } from '../results.js';
import { addressWith } from '../router.js';
import { useClient } from '../session.js';
import { useAction } from '../use-load.js';
import { webhookAddress } from '../webhook-address.js';
import { KeyLink } from './key-link.js';
import type { DeadLetter, WebhookDetails } from './read-webhooks.js';
import { webhooksText } from './strings.js';

const texts = webhooksText.dead;

interface DeadLettersProps {
  readonly webhook: WebhookDetails;
  readonly isLaterPage: boolean;
  /** Is called with whether no process sends as before any more. */
  readonly onChanged: (isReleased: boolean) => void;
}

/** The events that were given up, the oldest first: each, or all, can be delivered again or discarded. */
export function DeadLetters({ webhook, isLaterPage, onChanged }: DeadLettersProps) {
  const client = useClient('service');
  const { id, deadLetterCount } = webhook;
  const [done, setDone] = useState<string>();
  // Null for all of them.
  const [discarded, setDiscarded] = useState<string | null>();
  const replay = useAction(async (eventID: string | null) => {
    const { data, errors } = await client.send(ReplayKeyWebhookDeadLettersDocument, { id, eventID });
    setDone(texts.queued(required(data.replayKeyWebhookDeadLetters, errors, webhooksText.notFound).count));
    onChanged(true);
  });
  const letters = nodesOf(webhook.deadLetters);
  const pageInfo = webhook.deadLetters?.pageInfo;
  return (
    <section class="panel" aria-labelledby="dead-letters">
      <header>
        <h2 id="dead-letters">
          {texts.title} <small>{webhooksText.count(deadLetterCount)}</small>
        </h2>
        {letters.length > 0 && (
          <div class="actions">
            <Button disabled={replay.isRunning} onClick={() => void replay.run(null)}>
              {texts.replayAll}
            </Button>
            <Button onClick={() => setDiscarded(null)}>{texts.discardAll}</Button>
          </div>
        )}
      </header>
      <div class="body stack">
        {letters.length > 0 ? (
          <p class="quiet-text">{texts.hint}</p>
        ) : (
          <p>
            {webhook.deadLetters === null ? webhooksText.retries.unknown : isLaterPage ? texts.noneHere : texts.none}
          </p>
        )}
        <p role="status" class="quiet-text">
          {done}
        </p>
        <Problem error={replay.error} />
      </div>
      {letters.length > 0 && (
        <table class="cards" aria-label={texts.table}>
          <TableHead columns={texts.columns} />
          <tbody>
            {letters.map((letter) => (
              <Row
                key={letter.eventID}
                letter={letter}
                isBusy={replay.isRunning}
                onReplay={() => void replay.run(letter.eventID)}
                onDiscard={() => setDiscarded(letter.eventID)}
              />
            ))}
          </tbody>
        </table>
      )}
      {pageInfo?.hasNextPage && (
        <div class="body">
          <NextPage pageInfo={pageInfo} addressOf={(place) => addressWith(webhookAddress(id), place)} />
        </div>
      )}
      {discarded !== undefined && (
        <Discard
          id={id}
          eventID={discarded}
          count={webhooksText.count(deadLetterCount)}
          onDone={(count, isReleased) => {
            setDone(texts.discarded(count));
            onChanged(isReleased);
          }}
          onClose={() => setDiscarded(undefined)}
        />
      )}
    </section>
  );
}

interface RowProps {
  readonly letter: DeadLetter;
  readonly isBusy: boolean;
  readonly onReplay: () => void;
  readonly onDiscard: () => void;
}

function Row({ letter, isBusy, onReplay, onDiscard }: RowProps) {
  const { eventID, keyHash, version, failedAt, attempts, lastError, isReplayed } = letter;
  return (
    <tr>
      <th scope="row" class="long">
        <code>{eventID}</code>
      </th>
      <td data-label={texts.columns.key}>
        <KeyLink keyHash={keyHash} />
      </td>
      <td data-label={texts.columns.version}>{version}</td>
      <td data-label={texts.columns.failed}>
        <Ago at={failedAt} />
        <small>{texts.attempts(attempts)}</small>
      </td>
      <td data-label={texts.columns.error}>{lastError}</td>
      <td>
        <div class="actions">
          {isReplayed ? (
            <span class="state warn">{texts.replayed}</span>
          ) : (
            <Button disabled={isBusy} aria-label={`${texts.replay} ${eventID}`} onClick={onReplay}>
              {texts.replay}
            </Button>
          )}
          <Button aria-label={`${texts.discard} ${eventID}`} onClick={onDiscard}>
            {texts.discard}
          </Button>
        </div>
      </td>
    </tr>
  );
}

interface DiscardProps {
  readonly id: string;
  /** Null for all dead letters. */
  readonly eventID: string | null;
  readonly count: string;
  readonly onDone: (count: number, isReleased: boolean) => void;
  readonly onClose: () => void;
}

function Discard({ id, eventID, count, onDone, onClose }: DiscardProps) {
  const client = useClient('service');
  const send = useAction(async () => {
    const { data, errors } = await client.send(DiscardKeyWebhookDeadLettersDocument, { id, eventID });
    const { count: deleted, isReleased } = required(data.discardKeyWebhookDeadLetters, errors, webhooksText.notFound);
    onClose();
    onDone(deleted, isReleased);
  });
  const isAll = eventID === null;
  return (
    <Confirm
      title={isAll ? texts.discardAllTitle(count) : texts.discardTitle}
      confirm={isAll ? texts.discardAllNow : texts.discardNow}
      isDangerous
      hasReason={false}
      action={send}
      onClose={onClose}
    >
      <p>{isAll ? texts.discardAllHint : texts.discardHint}</p>
    </Confirm>
  );
}
