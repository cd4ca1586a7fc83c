import { RevokeKeyCredentialDocument } from '../../client/client.js';
import { Confirm } from '../parts/dialog.js';
import { RotateDialog } from '../parts/rotate-dialog.js';
import { required } from '../results.js';
import { useClient, useSession } from '../session.js';
import { useAction } from '../use-load.js';
import { isOwn, rotate, type Credential } from './read-credentials.js';
import { credentialsText as texts } from './strings.js';

interface CredentialDialogProps {
  readonly credential: Credential;
  readonly onClose: () => void;
}

/** Replaces a credential by one with a new secret, and shows it. */
export function RotateCredential({ credential, onClose }: CredentialDialogProps) {
  const client = useClient('service');
  const { viewer } = useSession();
  const { id, label } = credential;
  return (
    <RotateDialog
      texts={{
        ...texts,
        title: texts.rotateTitle(label),
        done: texts.rotated(label),
        confirm: texts.rotateNow,
      }}
      rotate={async (overlapHours) => (await rotate(client, id, overlapHours)).secret}
      onClose={onClose}
    >
      <p>{texts.rotateHint}</p>
      {isOwn(credential, viewer) && <p class="note warn">{texts.rotateOwn}</p>}
    </RotateDialog>
  );
}

interface RevokeProps extends CredentialDialogProps {
  readonly onDone: () => void;
}

/** Revokes a credential, with a warning if it is the viewer's own. */
export function RevokeCredential({ credential, onDone, onClose }: RevokeProps) {
  const client = useClient('service');
  const { viewer } = useSession();
  const { id, label } = credential;
  const send = useAction(async () => {
    const { data, errors } = await client.send(RevokeKeyCredentialDocument, { id });
    required(data.revokeKeyCredential, errors, texts.notFound);
    onDone();
    onClose();
  });
  return (
    <Confirm
      title={texts.revokeTitle(label)}
      confirm={texts.revokeNow}
      isDangerous
      hasReason={false}
      action={send}
      onClose={onClose}
    >
      <div class="stack">
        <p>{texts.revokeHint}</p>
        {isOwn(credential, viewer) && <p class="note warn">{texts.revokeOwn}</p>}
      </div>
    </Confirm>
  );
}
