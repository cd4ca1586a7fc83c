import { useEffect, useRef } from 'preact/hooks';
import { text } from '../strings.js';
import { Button, CopyButton, download } from './button.js';

interface NewSecretProps {
  readonly value: string;
  /** What it is. */
  readonly label: string;
  readonly hint: string;
  /** The name of the file to download it as, without its extension; undefined to offer none. */
  readonly fileName?: string;
  /** Whether it takes the place of a form that had the focus. */
  readonly takesFocus?: boolean;
}

/** Something that was just made and is needed elsewhere, such as an identifier, to be copied or downloaded. */
export function NewSecret({ value, label, hint, fileName, takesFocus = false }: NewSecretProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (takesFocus) box.current?.focus();
  }, []);
  return (
    <>
      <div class="secret" ref={box} tabIndex={-1} role="group" aria-label={label}>
        <code>{value}</code>
        <CopyButton value={value} label={label} class="primary" />
        {fileName !== undefined && (
          <Button onClick={() => download(`${fileName}.txt`, `${value}\n`, 'text/plain')}>{text.download}</Button>
        )}
      </div>
      <p class="quiet-text">{hint}</p>
    </>
  );
}
