import { PatchOrgKeyDocument, PreviewOrgKeyPatchDocument } from '../../client/client.js';
import { Confirm } from '../parts/confirm.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { required, useAction, useLoad } from '../use-load.js';
import type { KeyDetails } from './read-key.js';

interface ResetQuotaProps {
  readonly found: KeyDetails;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Resets the live quota after a confirmation that states the effect. The definition stays as it is. */
export function ResetQuota({ found, onDone, onClose }: ResetQuotaProps) {
  const client = useClient('service');
  const { keyHash, version, definition } = found;
  const variables = { keyHash, patch: {}, resetQuota: true, expectedVersion: version };
  const effect = useLoad(
    async (signal) => {
      const { data, errors } = await client.send(PreviewOrgKeyPatchDocument, variables, { signal });
      return required(data.previewOrgKeyPatch, errors, text.key.missing).quotaEffect;
    },
    [client, version],
  );
  const reset = useAction(async (reason: string | null) => {
    const { data, errors } = await client.send(PatchOrgKeyDocument, { ...variables, reason });
    required(data.patchOrgKey, errors, text.key.missing);
    onClose();
    onDone();
  });
  return (
    <Confirm
      title={text.quota.resetTitle}
      confirm={text.quota.resetConfirm}
      error={reset.error ?? effect.error}
      isRunning={reset.isRunning}
      isDisabled={effect.data === undefined || definition === null}
      onConfirm={(reason) => void reset.run(reason)}
      onClose={onClose}
    >
      <p>{effect.data === null ? text.quota.unavailable : (effect.data?.summary ?? text.loading)}</p>
    </Confirm>
  );
}
