import { Button } from '../parts/button.js';
import { NewSecret } from '../parts/new-secret.js';
import { text } from '../strings.js';
import { credentialsText as texts } from './strings.js';

/** The secret of a credential, in the place of the form that asked for it. It is gone when the dialog closes. */
export function SecretShown({ secret }: { readonly secret: string }) {
  return (
    <div class="stack">
      <NewSecret value={secret} label={texts.secret} hint={texts.secretHint} takesFocus />
      <div class="actions">
        <Button onClick={(event) => event.currentTarget.closest('dialog')?.close()}>{text.close}</Button>
      </div>
    </div>
  );
}
