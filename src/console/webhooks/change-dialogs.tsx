import { PauseKeyWebhookDocument, RemoveKeyWebhookDocument } from '../../client/client.js';
import { Confirm } from '../parts/dialog.js';
import { RotateDialog } from '../parts/rotate-dialog.js';
import { required } from '../results.js';
import { useClient } from '../session.js';
import { useAction } from '../use-load.js';
import { rotate } from './read-webhooks.js';
import { webhooksText as texts } from './strings.js';

interface ChangeProps {
  readonly id: string;
  readonly name: string;
  /** Is called with whether no process sends as before any more. */
  readonly onDone: (isReleased: boolean) => void;
  readonly onClose: () => void;
}

/** Pauses a webhook. */
export function PauseWebhook({ id, name, onDone, onClose }: ChangeProps) {
  const client = useClient('service');
  const send = useAction(async () => {
    const { data, errors } = await client.send(PauseKeyWebhookDocument, { id });
    onDone(required(data.pauseKeyWebhook, errors, texts.notFound).isReleased);
    onClose();
  });
  return (
    <Confirm title={texts.pauseTitle(name)} confirm={texts.pauseNow} hasReason={false} action={send} onClose={onClose}>
      <p>{texts.pauseHint}</p>
    </Confirm>
  );
}

/** Removes a webhook with what waits for it, also one whose row is damaged. */
export function RemoveWebhook({ id, name, onDone, onClose }: ChangeProps) {
  const client = useClient('service');
  const send = useAction(async () => {
    const { data, errors } = await client.send(RemoveKeyWebhookDocument, { id });
    const { isReleased } = required(data.removeKeyWebhook, errors, texts.notFound);
    onClose();
    onDone(isReleased);
  });
  return (
    <Confirm
      title={texts.removeTitle(name)}
      confirm={texts.removeNow}
      isDangerous
      hasReason={false}
      action={send}
      onClose={onClose}
    >
      <p>{texts.removeHint}</p>
    </Confirm>
  );
}

/** Replaces the signing secret, and shows the new one. */
export function RotateWebhook({ id, name, onDone, onClose }: ChangeProps) {
  const client = useClient('service');
  return (
    <RotateDialog
      texts={{ ...texts, title: texts.rotateTitle(name), done: texts.rotated(name), confirm: texts.rotateNow }}
      rotate={async (overlapHours) => {
        const { secret, isReleased } = await rotate(client, id, overlapHours);
        onDone(isReleased);
        return secret;
      }}
      onClose={onClose}
    >
      <p>{texts.rotateHint}</p>
    </RotateDialog>
  );
}
