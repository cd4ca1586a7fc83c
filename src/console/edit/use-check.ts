import { useEffect, useState } from 'preact/hooks';
import {
  PreviewKeyDocument,
  PreviewOrgKeyUpdateDocument,
  type Client,
  type KeyfrontError,
  type KeyfrontIssue,
} from '../../client/client.js';
import { useSession } from '../session.js';
import { toKeyfrontError } from '../use-load.js';
import type { FormValues } from './form-values.js';

/** Fields of an update that a preview does not have. */
const updateOnly: readonly string[] = ['enableHttpSignatureValidation', 'rsaCertificateID'];
const delayMs = 300;

/** The findings of the service about the edited definition. */
export interface Check {
  readonly issues: readonly KeyfrontIssue[];
  readonly warnings: readonly KeyfrontIssue[];
  /** An error that is not about the definition. */
  readonly error: KeyfrontError | undefined;
  readonly isChecking: boolean;
}

const unchecked: Check = { issues: [], warnings: [], error: undefined, isChecking: true };

/** Checks a definition while it is typed: after a pause, and without the responses to earlier texts. */
export function useCheck(keyHash: string, values: FormValues): Check {
  const { clients, isRejected } = useSession();
  const management = isRejected('management') ? undefined : clients.management;
  const { service } = clients;
  const [check, setCheck] = useState<Check>(unchecked);
  const input = JSON.stringify(values);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const show = (found: Partial<Check>) => signal.aborted || setCheck({ ...unchecked, isChecking: false, ...found });
    setCheck((previous) => ({ ...previous, isChecking: true }));
    const timer = setTimeout(() => {
      const warnings = management
        ? warningsOfPreview(management, values, signal)
        : service && warningsOfUpdate(service, keyHash, values, signal);
      warnings?.then(
        (found) => show({ warnings: found }),
        (caught: unknown) => {
          const error = toKeyfrontError(caught);
          show(error.issues.length > 0 ? { issues: error.issues } : { error });
        },
      );
    }, delayMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [input, keyHash, management, service]);
  return check;
}

type Warnings = Promise<readonly KeyfrontIssue[]>;

async function warningsOfPreview(client: Client, values: FormValues, signal: AbortSignal): Warnings {
  const input = Object.fromEntries(Object.entries(values).filter(([name]) => !updateOnly.includes(name)));
  const { data, errors } = await client.send(PreviewKeyDocument, { input }, { signal });
  if (errors[0]) throw errors[0];
  return data.previewKey?.warnings ?? [];
}

/** Checks the definition by a dry run of the update, which needs no management credential. */
async function warningsOfUpdate(client: Client, keyHash: string, input: FormValues, signal: AbortSignal): Warnings {
  const { data } = await client.send(PreviewOrgKeyUpdateDocument, { keyHash, input }, { signal });
  return data.previewOrgKeyUpdate?.warnings ?? [];
}
