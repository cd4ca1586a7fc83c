import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { text } from '../strings.js';
import { useAction } from '../use-load.js';
import { ConfirmForm, Dialog } from './dialog.js';
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

/** How long the old secret is accepted unless another time is chosen, in hours. */
export const defaultOverlap = 24;

/** Replaces a secret after a confirmation, and shows the new one. */
export function RotateDialog({ texts, children, rotate, onClose }: RotateDialogProps) {
  const [overlap, setOverlap] = useState(defaultOverlap);
  const [secret, setSecret] = useState<string | null>(null);
  const send = useAction(async () => setSecret(await rotate(overlap)));
  return (
    <Dialog title={secret === null ? texts.title : texts.done} onClose={onClose}>
      {secret !== null ? (
        <SecretShown secret={secret} label={texts.secret} hint={texts.secretHint} />
      ) : (
        <ConfirmForm confirm={texts.confirm} hasReason={false} action={send}>
          <div class="stack">
            {children}
            <OverlapField label={texts.overlap} hours={overlap} onChange={setOverlap} />
          </div>
        </ConfirmForm>
      )}
    </Dialog>
  );
}

interface OverlapFieldProps {
  readonly label: string;
  readonly hours: number;
  readonly onChange: (hours: number) => void;
}

/** How long what is replaced is accepted beside the new one. */
export function OverlapField({ label, hours, onChange }: OverlapFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} onChange={(event) => onChange(Number(event.currentTarget.value))}>
        {Object.entries(text.overlaps).map(([value, shown]) => (
          <option key={value} value={value} selected={Number(value) === hours}>
            {shown}
          </option>
        ))}
      </select>
    </div>
  );
}
