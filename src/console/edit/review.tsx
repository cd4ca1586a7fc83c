import { useEffect, useId } from 'preact/hooks';
import { PatchOrgKeyDocument, PreviewOrgKeyPatchDocument, type KeyfrontError } from '../../client/client.js';
import { formText } from '../format.js';
import type { KeyDetails } from '../key/read-key.js';
import { Diff } from '../parts/diff.js';
import { Problem } from '../parts/problem.js';
import { QuietButton } from '../parts/quiet-button.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { required, useAction, useLoad } from '../use-load.js';
import type { FormValues } from './form-values.js';

interface ReviewProps {
  readonly found: KeyDetails;
  readonly patch: FormValues;
  readonly onSaved: () => void;
  readonly onConflict: () => void;
  readonly onBack: () => void;
}

/** The dry run of the changes: its changes and its effect on the quota. Saving fails if the key has changed since. */
export function Review({ found: { keyHash, version }, patch, onSaved, onConflict, onBack }: ReviewProps) {
  const client = useClient('service');
  const id = useId();
  const variables = { keyHash, patch, expectedVersion: version };
  const dryRun = useLoad(
    async (signal) => {
      const { data, errors } = await client.send(PreviewOrgKeyPatchDocument, variables, { signal });
      return required(data.previewOrgKeyPatch, errors, text.key.missing);
    },
    [client, version],
  );
  const save = useAction(async (reason: string | null) => {
    const { data, errors } = await client.send(PatchOrgKeyDocument, { ...variables, reason });
    required(data.patchOrgKey, errors, text.key.missing);
    onSaved();
  });
  const error: KeyfrontError | undefined = save.error ?? dryRun.error;
  const isConflict = error?.code === 'CONFLICT';
  useEffect(() => {
    if (isConflict) onConflict();
  }, [isConflict]);
  const effect = dryRun.data?.quotaEffect;
  return (
    <form
      class="card"
      aria-labelledby={`${id}-title`}
      onSubmit={(event) => {
        event.preventDefault();
        void save.run(formText(event.currentTarget, 'reason') || null);
      }}
    >
      <h2 id={`${id}-title`}>{text.edit.reviewTitle}</h2>
      <span role="status">{dryRun.isLoading ? text.loading : ''}</span>
      <Problem error={error} retry={dryRun.reload} />
      {dryRun.data && (
        <>
          <Diff changes={dryRun.data.changes} />
          <p>
            {text.quota.title}: {effect ? effect.summary : text.quota.unavailable}
          </p>
          <label for={`${id}-reason`}>{text.reason}</label>
          <input id={`${id}-reason`} name="reason" maxLength={500} autocomplete="off" aria-describedby={`${id}-hint`} />
          <p id={`${id}-hint`} class="hint">
            {text.reasonHint}
          </p>
        </>
      )}
      <div class="actions">
        <button type="submit" disabled={!dryRun.data?.changed || save.isRunning}>
          {text.edit.save}
        </button>
        <QuietButton onClick={onBack}>{text.edit.back}</QuietButton>
      </div>
    </form>
  );
}
