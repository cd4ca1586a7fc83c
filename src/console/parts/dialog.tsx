import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { KeyfrontError } from '../../client/client.js';
import { formText } from '../format.js';
import { text } from '../strings.js';
import { QuietButton } from './button.js';
import { Problem } from './problem.js';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

/** A modal dialog. Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
    return () => void requestAnimationFrame(focusHeading);
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** What opened the dialog can be gone, such as the button of a change that was made. */
function focusHeading(): void {
  if (document.activeElement === document.body) document.querySelector<HTMLElement>('main h1')?.focus();
}

interface ConfirmProps extends DialogProps {
  readonly confirm: string;
  /** Whether the confirmation destroys something. */
  readonly isDangerous?: boolean;
  readonly error: KeyfrontError | undefined;
  readonly isRunning: boolean;
  readonly isDisabled?: boolean;
  /** Whether a reason can be given. */
  readonly hasReason?: boolean;
  readonly onConfirm: (reason: string | null) => void;
}

/** A dialog for the confirmation of a change, with its reason. */
export function Confirm(props: ConfirmProps) {
  const {
    title,
    confirm,
    children,
    error,
    isRunning,
    isDangerous = false,
    isDisabled = false,
    hasReason = true,
  } = props;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    props.onConfirm(formText(event.currentTarget, 'reason') || null);
  };
  return (
    <Dialog title={title} onClose={props.onClose}>
      <form onSubmit={submit} class="stack">
        <div>{children}</div>
        <Problem error={error} />
        {hasReason && <Reason />}
        <div class="actions">
          <button type="submit" class={isDangerous ? 'primary danger' : 'primary'} disabled={isRunning || isDisabled}>
            {confirm}
          </button>
          <QuietButton onClick={(event) => event.currentTarget.closest('dialog')?.close()}>{text.cancel}</QuietButton>
        </div>
      </form>
    </Dialog>
  );
}

/** The field for the reason of a change, as a part of a form. */
export function Reason() {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{text.reason}</label>
      <input id={id} name="reason" maxLength={500} autocomplete="off" aria-describedby={`${id}-hint`} />
      <small id={`${id}-hint`}>{text.reasonHint}</small>
    </div>
  );
}
