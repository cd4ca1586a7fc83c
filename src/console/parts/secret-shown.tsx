import { text } from '../strings.js';
import { useAction } from '../use-load.js';
import { Button, QuietButton } from './button.js';
import { closeDialog } from './dialog.js';
import { NewSecret } from './new-secret.js';
import { Problem } from './problem.js';

interface SecretShownProps {
  readonly secret: string;
  readonly label: string;
  readonly hint: string;
  /** The name of the file to download it as, without its extension; undefined to offer none. */
  readonly fileName?: string;
}

/** A secret in a dialog, in the place of the form that asked for it. It is gone when the dialog closes. */
export function SecretShown({ secret, ...props }: SecretShownProps) {
  return (
    <div class="stack">
      <NewSecret value={secret} {...props} takesFocus />
      <div class="actions">
        <Button onClick={closeDialog}>{text.close}</Button>
      </div>
    </div>
  );
}

interface LostSecretProps {
  readonly children: string;
  /** Replaces the secret by a new one. */
  readonly renew: () => Promise<void>;
}

/** After a repeated request: the first one did what was asked, and its answer with the secret was lost. */
export function LostSecret({ children, renew }: LostSecretProps) {
  const send = useAction(renew);
  return (
    <div class="stack">
      <p class="note warn" role="status">
        {children}
      </p>
      <Problem error={send.error} />
      <div class="actions">
        <button type="button" class="primary" disabled={send.isRunning} onClick={() => void send.run()}>
          {text.newSecret}
        </button>
        <QuietButton onClick={closeDialog}>{text.close}</QuietButton>
      </div>
    </div>
  );
}
