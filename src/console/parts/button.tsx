import type { ComponentProps } from 'preact';
import { useState } from 'preact/hooks';
import { text } from '../strings.js';

/** A button beside the main one of its page. */
export function Button(props: ComponentProps<'button'>) {
  return <button type="button" {...props} />;
}

/** A button without a border, for what is done rarely. */
export function QuietButton(props: ComponentProps<'button'>) {
  return <button type="button" class="quiet" {...props} />;
}

interface CopyButtonProps {
  readonly value: string;
  /** What is copied, for a screen reader. */
  readonly label: string;
  readonly class?: string;
  /** The text of the button. */
  readonly text?: string;
}

/** Copies a value. Absent where the browser has no clipboard for the page, such as over plain HTTP. */
export function CopyButton({ value, label, class: className = 'quiet', text: shown = text.copy }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  if (!('clipboard' in navigator)) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 2000);
  };
  return (
    <button type="button" class={className} aria-label={`${shown}: ${label}`} onClick={() => void copy()}>
      <span aria-live="polite">{isCopied ? text.copied : shown}</span>
    </button>
  );
}

/** Offers a text as a file. */
export function download(name: string, content: string, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
