import { useEffect, useState } from 'preact/hooks';
import {
  PreviewOrgKeyPatchDocument,
  type KeyfrontError,
  type KeyfrontIssue,
  type PreviewFragment,
} from '../../client/client.js';
import { useClient, useSession } from '../session.js';
import { toKeyfrontError } from '../results.js';
import type { FormValues } from './form-values.js';

const delayMs = 250;

/** What a change would do, while it is typed. */
export interface DryRun {
  readonly result: PreviewFragment | undefined;
  readonly issues: readonly KeyfrontIssue[];
  /** An error that is not about the definition, such as CONFLICT. */
  readonly error: KeyfrontError | undefined;
  readonly isChecking: boolean;
}

const nothing: DryRun = { result: undefined, issues: [], error: undefined, isChecking: false };

/** Predicts a patch after a pause in typing, and without the responses to earlier texts. */
export function useDryRun(keyHash: string, expectedVersion: number, patch: FormValues): DryRun {
  const client = useClient('service');
  const { isRejected } = useSession();
  const [run, setRun] = useState(nothing);
  const input = JSON.stringify(patch);
  const isWaiting = isRejected('service');
  useEffect(() => {
    if (input === '{}') return setRun(nothing);
    const controller = new AbortController();
    const { signal } = controller;
    const show = (found: Partial<DryRun>) => signal.aborted || setRun({ ...nothing, ...found });
    setRun((previous) => ({ ...previous, isChecking: true }));
    const timer = setTimeout(() => {
      const variables = { keyHash, patch, expectedVersion };
      client.send(PreviewOrgKeyPatchDocument, variables, { signal }).then(
        ({ data, errors }) => show({ result: data.previewOrgKeyPatch ?? undefined, error: errors[0] }),
        (caught: unknown) => {
          const error = toKeyfrontError(caught);
          show(error.code === 'INVALID' ? { issues: error.issues } : { error });
        },
      );
    }, delayMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [input, keyHash, expectedVersion, client, isWaiting]);
  return run;
}
