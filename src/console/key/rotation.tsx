import { useState } from 'preact/hooks';
import { RotateOrgKeyDocument } from '../../client/client.js';
import { formatExactTime, formatRelative, formatTime, nameOf } from '../format.js';
import { newIdempotencyKey } from '../idempotency-key.js';
import { Button } from '../parts/button.js';
import { Confirm, Dialog } from '../parts/dialog.js';
import { defaultOverlap, OverlapField } from '../parts/rotate-dialog.js';
import { SecretShown } from '../parts/secret-shown.js';
import { required } from '../results.js';
import { useClient, useSession } from '../session.js';
import { text } from '../strings.js';
import { useAction } from '../use-load.js';
import { useNow } from '../use-now.js';
import { ChangeDialog, type ChangeDialogProps } from './changes.js';
import type { SectionProps } from './read-key.js';
import { keyText } from './strings.js';

const texts = keyText.rotation;

/** A rotation that is under way: until when the previous identifier is accepted. Nothing for a key without one. */
export function Rotation({ found, onChanged }: SectionProps) {
  const { can } = useSession();
  const [isCanceling, setIsCanceling] = useState(false);
  const now = useNow();
  const { rotation, state } = found;
  if (!rotation || state === 'DELETED') return null;
  const { retiresAt, silence } = rotation;
  return (
    <section class="panel" aria-labelledby="rotation">
      <header>
        <h2 id="rotation">{texts.title}</h2>
        <small>
          {texts.ends}{' '}
          <time dateTime={retiresAt} title={formatExactTime(retiresAt)}>
            {formatRelative(retiresAt, now)}
          </time>
        </small>
      </header>
      <div class="body stack">
        <p>
          {texts.both(formatTime(retiresAt))} {silence !== null && texts.silence}
        </p>
        {can('UPDATE') && (
          <div class="actions">
            <Button onClick={() => setIsCanceling(true)}>{texts.cancel}</Button>
          </div>
        )}
      </div>
      {isCanceling && (
        <ChangeDialog change="cancelRotation" found={found} onDone={onChanged} onClose={() => setIsCanceling(false)} />
      )}
    </section>
  );
}

/** Gives the key another identifier, and shows it. */
export function RotateDialog({ found, onDone, onClose }: Omit<ChangeDialogProps, 'change'>) {
  const client = useClient('service');
  const [overlap, setOverlap] = useState(defaultOverlap);
  const [keyID, setKeyID] = useState<string>();
  // A repeated request makes no further identifier.
  const [idempotencyKey] = useState(newIdempotencyKey);
  // The page may show a newer version before the dialog is closed.
  const [{ keyHash, version: expectedVersion }] = useState(found);
  const send = useAction(async (reason: string | null) => {
    const variables = { keyHash, expectedVersion, overlap: overlap * 3600, reason, idempotencyKey };
    const { data, errors } = await client.send(RotateOrgKeyDocument, variables);
    setKeyID(required(data.rotateOrgKey, errors, text.notFound).keyID);
    onDone();
  });
  if (keyID !== undefined) {
    return (
      <Dialog title={texts.done(nameOf(found))} onClose={onClose}>
        <SecretShown {...text.newIdentifier} secret={keyID} fileName={`${found.orgID}-${nameOf(found)}`} />
      </Dialog>
    );
  }
  return (
    <Confirm title={texts.rotateTitle(nameOf(found))} confirm={texts.rotateConfirm} action={send} onClose={onClose}>
      <div class="stack">
        <p>{texts.rotateHint}</p>
        <OverlapField label={texts.overlap} hours={overlap} onChange={setOverlap} />
      </div>
    </Confirm>
  );
}
