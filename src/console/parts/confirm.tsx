import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { KeyfrontError } from '../../client/client.js';
import { formText } from '../format.js';
import { text } from '../strings.js';
import { Problem } from './problem.js';
import { QuietButton } from './quiet-button.js';

interface ConfirmProps {
  readonly title: string;
  readonly confirm: string;
  readonly children?: ComponentChildren;
  readonly error: KeyfrontError | undefined;
  readonly isRunning: boolean;
  readonly isDisabled?: boolean;
  readonly onConfirm: (reason: string | null) => void;
  readonly onClose: () => void;
}

/** A modal dialog for the reason and the confirmation of a change. Escape closes it. */
export function Confirm({
  title,
  confirm,
  children,
  error,
  isRunning,
  isDisabled = false,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onConfirm(formText(event.currentTarget, 'reason') || null);
  };
  return (
    <dialog ref={dialog} aria-labelledby={`${id}-title`} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={`${id}-title`}>{title}</h2>
        {children}
        <Problem error={error} />
        <label for={`${id}-reason`}>{text.reason}</label>
        <input id={`${id}-reason`} name="reason" maxLength={500} aria-describedby={`${id}-hint`} autocomplete="off" />
        <p id={`${id}-hint`} class="hint">
          {text.reasonHint}
        </p>
        <div class="actions">
          <button type="submit" disabled={isRunning || isDisabled}>
            {confirm}
          </button>
          <QuietButton onClick={() => dialog.current?.close()}>{text.cancel}</QuietButton>
        </div>
      </form>
    </dialog>
  );
}
