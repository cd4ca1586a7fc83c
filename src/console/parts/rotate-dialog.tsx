import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { text } from '../strings.js';
import { useAction } from '../use-load.js';
import { QuietButton } from './button.js';
import { Dialog } from './dialog.js';
import { Problem } from './problem.js';
import { SecretShown } from './secret-shown.js';

interface RotateDialogProps {
  readonly texts: {
    readonly title: string;
    /** The title when the new secret is shown. */
    readonly done: string;
    readonly confirm: string;
    readonly overlap: string;
    readonly secret: string;
    readonly secretHint: string;
  };
  /** What a rotation does. */
  readonly children: ComponentChildren;
  /** Replaces the secret, and returns the new one. */
  readonly rotate: (overlapHours: number) => Promise<string | null>;
  readonly onClose: () => void;
}

/** How long the old secret counts unless another time is chosen, in hours. */
const defaultOverlap = 24;

/** Replaces a secret after a confirmation, and shows the new one. */
export function RotateDialog({ texts, children, rotate, onClose }: RotateDialogProps) {
  const id = useId();
  const [overlap, setOverlap] = useState(defaultOverlap);
  const [secret, setSecret] = useState<string | null>(null);
  const send = useAction(async () => setSecret(await rotate(overlap)));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void send.run();
  };
  return (
    <Dialog title={secret === null ? texts.title : texts.done} onClose={onClose}>
      {secret !== null ? (
        <SecretShown secret={secret} label={texts.secret} hint={texts.secretHint} />
      ) : (
        <form class="stack" onSubmit={submit}>
          {children}
          <div class="field">
            <label for={id}>{texts.overlap}</label>
            <select id={id} onChange={(event) => setOverlap(Number(event.currentTarget.value))}>
              {Object.entries(text.overlaps).map(([hours, label]) => (
                <option key={hours} value={hours} selected={Number(hours) === overlap}>
                  {label}
                </option>
              ))}
            </select>
          </div>
          <Problem error={send.error} />
          <div class="actions">
            <button type="submit" class="primary" disabled={send.isRunning}>
              {texts.confirm}
            </button>
            <QuietButton onClick={(event) => event.currentTarget.closest('dialog')?.close()}>{text.cancel}</QuietButton>
          </div>
        </form>
      )}
    </Dialog>
  );
}
