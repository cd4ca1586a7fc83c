import type { ComponentChildren } from 'preact';
import {
  CancelKeyRotationDocument,
  DeleteOrgKeyDocument,
  PatchOrgKeyDocument,
  RestoreOrgKeyDocument,
} from '../../client/client.js';
import { formatInteger, nameOf } from '../format.js';
import { Confirm } from '../parts/dialog.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { required } from '../results.js';
import { useAction } from '../use-load.js';
import type { KeyDetails } from './read-key.js';
import { keyText } from './strings.js';

/** A change that is made after a confirmation. */
export type ChangeName = 'activate' | 'cancelRotation' | 'deactivate' | 'delete' | 'reset' | 'restore';

/** What the dialog of a change needs. */
export interface ChangeDialogProps {
  readonly change: ChangeName;
  readonly found: KeyDetails;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** The confirmation of a change of a whole key, which states its effect. */
export function ChangeDialog({ change, found, onDone, onClose }: ChangeDialogProps) {
  const client = useClient('service');
  const { keyHash, version: expectedVersion } = found;
  const send = useAction(async (reason: string | null) => {
    const variables = { keyHash, expectedVersion, reason };
    if (change === 'delete') {
      const { data, errors } = await client.send(DeleteOrgKeyDocument, variables);
      required(data.deleteOrgKey, errors, text.notFound);
    } else if (change === 'restore') {
      const { data, errors } = await client.send(RestoreOrgKeyDocument, variables);
      required(data.restoreOrgKey, errors, text.notFound);
    } else if (change === 'cancelRotation') {
      const { data, errors } = await client.send(CancelKeyRotationDocument, variables);
      required(data.cancelKeyRotation, errors, text.notFound);
    } else {
      const patch = change === 'reset' ? {} : { isInactive: change === 'deactivate' ? true : null };
      const { data, errors } = await client.send(PatchOrgKeyDocument, {
        ...variables,
        patch,
        resetQuota: change === 'reset',
      });
      required(data.patchOrgKey, errors, text.notFound);
    }
    onClose();
    onDone();
  });
  const { title, confirm, effect, isDangerous = false } = describe(change, found);
  return (
    <Confirm title={title} confirm={confirm} isDangerous={isDangerous} action={send} onClose={onClose}>
      <p>{effect}</p>
    </Confirm>
  );
}

interface Description {
  readonly title: string;
  readonly confirm: string;
  readonly effect: ComponentChildren;
  readonly isDangerous?: boolean;
}

function describe(change: ChangeName, found: KeyDetails): Description {
  const name = nameOf(found);
  switch (change) {
    case 'activate':
      return { title: keyText.switchOnTitle(name), confirm: keyText.activate, effect: keyText.switchOnHint };
    case 'cancelRotation':
      return {
        title: keyText.rotation.cancelTitle(name),
        confirm: keyText.rotation.cancelConfirm,
        effect: keyText.rotation.cancelHint,
        isDangerous: true,
      };
    case 'deactivate':
      return {
        title: keyText.switchOffTitle(name),
        confirm: keyText.deactivate,
        effect: keyText.switchOffHint,
        isDangerous: true,
      };
    case 'delete':
      return {
        title: keyText.removeTitle(name),
        confirm: keyText.removeConfirm,
        effect: keyText.removeHint,
        isDangerous: true,
      };
    case 'restore':
      return { title: keyText.restoreTitle(name), confirm: keyText.restoreConfirm, effect: keyText.restoreHint };
    case 'reset':
      return {
        title: keyText.quota.resetTitle,
        confirm: keyText.quota.resetConfirm,
        effect: resetEffect(found),
      };
  }
}

function resetEffect({ quota }: KeyDetails): string {
  if (!quota) return keyText.quota.unavailable;
  if (Number(quota.used) === 0) return keyText.quota.resetNothing;
  const max = quota.max === null ? 'any number of' : formatInteger(quota.max);
  return keyText.quota.resetHint(formatInteger(quota.used), max);
}
