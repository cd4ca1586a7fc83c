import { text } from '../strings.js';
import { Button, CopyButton, download } from './button.js';

interface NewIdentifierProps {
  readonly keyID: string;
  /** The name of the file, without its extension. */
  readonly fileName: string;
}

/** The new identifier of a key, to be copied or downloaded. */
export function NewIdentifier({ keyID, fileName }: NewIdentifierProps) {
  const texts = text.newIdentifier;
  return (
    <>
      <div class="secret">
        <code>{keyID}</code>
        <CopyButton value={keyID} label={texts.label} class="primary" />
        <Button onClick={() => download(`${fileName}.txt`, `${keyID}\n`, 'text/plain')}>{text.download}</Button>
      </div>
      <p class="quiet-text">{texts.hint}</p>
    </>
  );
}
