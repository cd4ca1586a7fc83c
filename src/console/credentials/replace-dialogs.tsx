import { useId, useState } from 'preact/hooks';
import { RevokeKeyCredentialDocument } from '../../client/client.js';
import { QuietButton } from '../parts/button.js';
import { Confirm, Dialog } from '../parts/dialog.js';
import { Problem } from '../parts/problem.js';
import { required } from '../results.js';
import { useClient, useSession } from '../session.js';
import { text } from '../strings.js';
import { useAction } from '../use-load.js';
import { isOwn, rotate, type Credential } from './read-credentials.js';
import { SecretShown } from './secret-dialog.js';
import { credentialsText as texts } from './strings.js';

interface RotateDialogProps {
  readonly credential: Credential;
  readonly onClose: () => void;
}

/** How long the old credential is accepted unless another time is chosen, in hours. */
const defaultOverlap = 24;

/** Replaces a credential by one with a new secret, and shows it. */
export function RotateDialog({ credential, onClose }: RotateDialogProps) {
  const client = useClient('service');
  const { viewer } = useSession();
  const id = useId();
  const [overlap, setOverlap] = useState(defaultOverlap);
  const [secret, setSecret] = useState<string | null>(null);
  const send = useAction(async () => {
    const issued = await rotate(client, credential.id, overlap);
    setSecret(issued.secret);
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void send.run();
  };
  return (
    <Dialog
      title={secret === null ? texts.rotateTitle(credential.label) : texts.rotated(credential.label)}
      onClose={onClose}
    >
      {secret !== null ? (
        <SecretShown secret={secret} />
      ) : (
        <form class="stack" onSubmit={submit}>
          <p>{texts.rotateHint}</p>
          <div class="field">
            <label for={id}>{texts.overlap}</label>
            <select id={id} onChange={(event) => setOverlap(Number(event.currentTarget.value))}>
              {Object.entries(texts.overlaps).map(([hours, label]) => (
                <option key={hours} value={hours} selected={Number(hours) === overlap}>
                  {label}
                </option>
              ))}
            </select>
          </div>
          {isOwn(credential, viewer) && <p class="note warn">{texts.rotateOwn}</p>}
          <Problem error={send.error} />
          <div class="actions">
            <button type="submit" class="primary" disabled={send.isRunning}>
              {texts.rotateNow}
            </button>
            <QuietButton onClick={(event) => event.currentTarget.closest('dialog')?.close()}>{text.cancel}</QuietButton>
          </div>
        </form>
      )}
    </Dialog>
  );
}

interface RevokeDialogProps extends RotateDialogProps {
  readonly onDone: () => void;
}

/** Revokes a credential, with a warning if it is the viewer's own. */
export function RevokeDialog({ credential: { id, label }, onDone, onClose, ...props }: RevokeDialogProps) {
  const client = useClient('service');
  const { viewer } = useSession();
  const send = useAction(async () => {
    const { data, errors } = await client.send(RevokeKeyCredentialDocument, { id });
    required(data.revokeKeyCredential, errors, texts.notFound);
    onDone();
    onClose();
  });
  return (
    <Confirm
      {...props}
      title={texts.revokeTitle(label)}
      confirm={texts.revokeNow}
      isDangerous
      hasReason={false}
      error={send.error}
      isRunning={send.isRunning}
      onConfirm={() => void send.run()}
      onClose={onClose}
    >
      <div class="stack">
        <p>{texts.revokeHint}</p>
        {viewer?.credentialID === id && <p class="note warn">{texts.revokeOwn}</p>}
      </div>
    </Confirm>
  );
}
