import {
  KeyfrontError,
  OrgKeyDocument,
  PreviewKeyDocument,
  PreviewOrgKeyUpdateDocument,
  UpdateOrgKeyDocument,
  type Client,
  type KeyfrontIssue,
  type PreviewOrgKeyUpdateQuery,
} from 'keyfront/client';
import { differences, editable, inputOf, type Difference, type Fields } from './editable.js';

/** All that a page needs to draw the form. It is replaced at each change, and never changed itself. */
export interface FormState {
  readonly fields: Fields;
  /** The version that the form was filled from. */
  readonly version: number;
  /** What to write beside each field, by its path; what concerns the whole stands under ''. */
  readonly problems: Readonly<Record<string, string>>;
  readonly warnings: Readonly<Record<string, string>>;
  /** What a save would change, after a dry run. */
  readonly effect: PreviewOrgKeyUpdateQuery['previewOrgKeyUpdate'] | undefined;
  /** What others have changed since, where a save came too late; the form has what it had until `resolve`. */
  readonly conflict: readonly Difference[] | undefined;
  /** When to retry, if the service sent `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  readonly isSaved: boolean;
}

export interface KeyForm {
  readonly state: () => FormState;
  /** Puts a value into a field, and has the form previewed when nothing more is typed for a moment. */
  readonly type: (field: string, value: unknown) => void;
  readonly dryRun: () => Promise<void>;
  /** Saves, if no other client has changed the key meanwhile. */
  readonly save: (options?: { readonly resetQuota?: boolean }) => Promise<void>;
  /** Takes over what others have changed; of fields that both have changed, `mine` names those to keep as they are here. */
  readonly resolve: (mine: readonly string[]) => void;
  readonly close: () => void;
}

interface FormOptions {
  readonly client: Client;
  readonly keyID: string;
  readonly onChange?: (state: FormState) => void;
  /** For how long nothing must be typed until the form is previewed. */
  readonly pauseMs?: number;
}

/** Reads a key and fills a form with it. Rejects with a KeyfrontError. */
export async function openKeyForm({ client, keyID, onChange, pauseMs = 300 }: FormOptions): Promise<KeyForm> {
  const read = async () => {
    const { data, errors } = await client.send(OrgKeyDocument, { by: { keyID }, first: 1 });
    const { orgKey } = data;
    if (!orgKey?.definition) throw errors[0] ?? new KeyfrontError('NOT_FOUND', 'There is no such key.');
    return { version: orgKey.version, fields: editable(orgKey.definition) };
  };

  let filled = await read();
  let theirs = filled;
  let state: FormState = { ...filled, ...nothingToTell, isSaved: true };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let preview = new AbortController();

  function put(change: Partial<FormState>): void {
    state = { ...state, ...change };
    onChange?.(state);
  }

  /** Shows a rejection where it belongs. Other errors go to the page. */
  function notify(error: unknown): void {
    if (!(error instanceof KeyfrontError)) throw error;
    const problems = error.issues.length > 0 ? byPath(error.issues) : { '': error.message };
    put({ problems, retryAfterSeconds: error.retryAfterSeconds });
  }

  async function previewed(signal: AbortSignal): Promise<void> {
    try {
      const { enableDetailRecording, enableHttpSignatureValidation, rsaCertificateID, ...shared } = inputOf(
        state.fields,
      );
      const { data } = await client.send(PreviewKeyDocument, { input: { ...shared, keyID } }, { signal });
      if (!signal.aborted)
        put({ problems: {}, warnings: byPath(data.previewKey?.warnings ?? []), retryAfterSeconds: undefined });
    } catch (error) {
      // A response to an earlier input is stale.
      if (!signal.aborted) notify(error);
    }
  }

  function forgetPreview(): void {
    clearTimeout(timer);
    preview.abort();
  }

  return {
    state: () => state,
    type: (field, value) => {
      forgetPreview();
      put({ fields: { ...state.fields, [field]: value }, effect: undefined, isSaved: false });
      const { signal } = (preview = new AbortController());
      timer = setTimeout(() => void previewed(signal), pauseMs);
    },
    dryRun: async () => {
      forgetPreview();
      try {
        const variables = { keyID, input: inputOf(state.fields), expectedVersion: state.version };
        const { data } = await client.send(PreviewOrgKeyUpdateDocument, variables);
        const { previewOrgKeyUpdate: effect } = data;
        if (effect) put({ ...nothingToTell, effect, warnings: byPath(effect.warnings) });
      } catch (error) {
        notify(error);
      }
    },
    save: async ({ resetQuota = false } = {}) => {
      forgetPreview();
      try {
        const { data } = await client.send(UpdateOrgKeyDocument, {
          keyID,
          input: inputOf(state.fields),
          expectedVersion: state.version,
          resetQuota,
        });
        // A client rejects when the only field of an operation has failed.
        if (!data.updateOrgKey) return;
        const { version, definition, warnings } = data.updateOrgKey;
        filled = theirs = { version, fields: editable(definition) };
        put({ ...filled, ...nothingToTell, warnings: byPath(warnings), isSaved: true });
      } catch (error) {
        notify(error);
        if (!(error instanceof KeyfrontError) || error.code !== 'CONFLICT') return;
        theirs = await read();
        put({ conflict: differences(filled.fields, theirs.fields, state.fields) });
      }
    },
    resolve: (mine) => {
      const taken = (state.conflict ?? []).filter(({ field, isClash }) => !isClash || !mine.includes(field));
      const fields = {
        ...state.fields,
        ...Object.fromEntries(taken.map(({ field, theirs: value }) => [field, value])),
      };
      filled = theirs;
      put({ fields, version: theirs.version, ...nothingToTell });
    },
    close: forgetPreview,
  };
}

const nothingToTell = {
  problems: {},
  warnings: {},
  effect: undefined,
  conflict: undefined,
  retryAfterSeconds: undefined,
} satisfies Partial<FormState>;

function byPath(found: readonly KeyfrontIssue[]): Readonly<Record<string, string>> {
  return Object.fromEntries(found.map(({ path, message }) => [path, message]));
}
