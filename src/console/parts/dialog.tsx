import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { formText } from '../format.js';
import { text } from '../strings.js';
import type { UserAction } from '../use-load.js';
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

/** Closes the dialog of a button that was clicked. */
export function closeDialog({ currentTarget }: { readonly currentTarget: Element }): void {
  currentTarget.closest('dialog')?.close();
}

interface ConfirmFormProps {
  readonly confirm: string;
  /** Whether the confirmation destroys something. */
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Whether a reason can be given. */
  readonly hasReason?: boolean;
  /** What the confirmation starts, with the reason. */
  readonly action: UserAction<[reason: string | null]>;
  readonly children: ComponentChildren;
}

/** A dialog for the confirmation of a change, with its reason. */
export function Confirm({ title, onClose, ...form }: ConfirmFormProps & DialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <ConfirmForm {...form} />
    </Dialog>
  );
}

/** The form of such a dialog, for one that shows a result in its place afterwards. */
export function ConfirmForm(props: ConfirmFormProps) {
  const { confirm, isDangerous = false, isDisabled = false, hasReason = true, action, children } = props;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void action.run(formText(event.currentTarget, 'reason') || null);
  };
  return (
    <form onSubmit={submit} class="stack">
      <div>{children}</div>
      <Problem error={action.error} />
      {hasReason && <Reason />}
      <div class="actions">
        <button
          type="submit"
          class={isDangerous ? 'primary danger' : 'primary'}
          disabled={action.isRunning || isDisabled}
        >
          {confirm}
        </button>
        <QuietButton onClick={closeDialog}>{text.cancel}</QuietButton>
      </div>
    </form>
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
