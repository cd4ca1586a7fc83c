import { useEffect, useRef, useState } from 'preact/hooks';
import { PatchOrgKeyDocument, toInput, toPatch, type DefinitionFragment } from '../../client/client.js';
import { nameOf } from '../format.js';
import { limitsOf } from '../key/effective.js';
import { entriesOf, whoOf } from '../key/history-entries.js';
import { readKey, type KeyDetails } from '../key/read-key.js';
import { Button, QuietButton } from '../parts/button.js';
import { PageHead } from '../parts/page-head.js';
import { StateLabel } from '../parts/state.js';
import { Link, navigate, useAddress, useUnsavedWarning } from '../router.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { useFollow } from '../use-follow.js';
import { required } from '../results.js';
import { useAction } from '../use-load.js';
import { Conflict } from './conflict.js';
import { isSame, type FormValues } from './form-values.js';
import { KeyForm } from './key-form.js';
import { Pending } from './pending.js';
import { editText } from './strings.js';
import { useDryRun } from './use-dry-run.js';

interface EditViewProps {
  readonly found: KeyDetails;
  readonly onClose: () => void;
}

const inputOf = ({ definition }: KeyDetails): FormValues => (definition ? toInput(definition) : {});

/** The edited values and the version that they started from. */
interface Draft {
  readonly base: KeyDetails;
  readonly values: FormValues;
}

/** Edits the definition of a key: form, difference, and the merge with the changes of others. */
export function EditView({ found, onClose }: EditViewProps) {
  const client = useClient('service');
  const { pathname, searchParams } = useAddress();
  const [draft, setDraft] = useState<Draft>({ base: found, values: inputOf(found) });
  const [beforeMerge, setBeforeMerge] = useState<Draft>();
  const [newer, setNewer] = useState<KeyDetails>();
  const [isMerging, setIsMerging] = useState(false);
  const [isSaved, setIsSaved] = useState(false);
  const { base, values } = draft;
  const isUnchanged = isSame(values, inputOf(base));
  const dryRun = useDryRun(base.keyHash, base.version, toPatch(inputOf(base), values));
  const readNewer = useAction(async () => setNewer(await readKey(client, base.keyHash)));
  const save = useAction(async (reason: string | null) => {
    const patch = toPatch(inputOf(base), values);
    const variables = { keyHash: base.keyHash, patch, expectedVersion: base.version, reason };
    const { data, errors } = await client.send(PatchOrgKeyDocument, variables);
    required(data.patchOrgKey, errors, text.notFound);
    setIsSaved(true);
  });
  const hasConflict = [save.error, dryRun.error].some((error) => error?.code === 'CONFLICT');
  useEffect(() => {
    if (hasConflict) void readNewer.run();
  }, [hasConflict]);
  useFollow({ keyHash: base.keyHash }, (change) => {
    const entry = change.__typename === 'OrgKeyChanged' ? change.entry : null;
    if (!isSaved && entry && entry.version > base.version) void readNewer.run();
  });
  useUnsavedWarning(!isUnchanged && !isSaved);
  const close = () => {
    navigate(pathname);
    onClose();
  };
  useEffect(() => (isSaved ? close() : undefined), [isSaved]);
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const field = searchParams.get('edit') ?? '';
    form.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(field)}"]`)?.focus();
  }, []);
  const theirs = newer !== undefined && newer.version > base.version ? newer : undefined;
  const notice = theirs && noticeOf(theirs);
  const merge = (merged: FormValues) => {
    if (!theirs) return;
    setBeforeMerge(draft);
    setDraft({ base: theirs, values: merged });
    setIsMerging(false);
  };
  return (
    <>
      <PageHead
        title={editText.title}
        trail={<Trail found={base} pathname={pathname} />}
        beside={<StateLabel {...base} />}
      />
      {notice !== undefined && !isMerging && (
        <div class="note warn" role="alert">
          <div>{notice}</div>
          <Button onClick={() => setIsMerging(true)}>{editText.conflict.merge}</Button>
        </div>
      )}
      {beforeMerge && !theirs && (
        <div class="note ok" role="status">
          <div>{editText.conflict.merged(base.version)}</div>
          <QuietButton
            onClick={() => {
              setDraft(beforeMerge);
              setBeforeMerge(undefined);
            }}
          >
            {editText.conflict.undo}
          </QuietButton>
        </div>
      )}
      {isMerging && theirs && notice !== undefined ? (
        <Conflict
          base={inputOf(base)}
          mine={values}
          theirs={inputOf(theirs)}
          notice={notice}
          onMerged={merge}
          onBack={() => setIsMerging(false)}
        />
      ) : (
        <div class="grid edit" ref={form}>
          <div class="panel body stack">
            <KeyForm
              values={values}
              issues={dryRun.issues}
              onChange={(next) => setDraft({ base, values: next })}
              orgID={base.orgID}
              used={base.quota?.max == null ? undefined : base.quota.used}
              policyOf={limitsOf(base).policyOf}
              stored={storedSecrets(base.definition)}
            />
          </div>
          <Pending
            dryRun={dryRun}
            isUnchanged={isUnchanged}
            isOutdated={theirs !== undefined}
            isSaving={save.isRunning}
            error={hasConflict ? readNewer.error : (save.error ?? dryRun.error)}
            onSave={(reason) => void save.run(reason)}
            onCancel={close}
          />
        </div>
      )}
    </>
  );
}

function Trail({ found, pathname }: { readonly found: KeyDetails; readonly pathname: string }) {
  return (
    <>
      <Link to="/console">{text.nav.keys}</Link> /{' '}
      <Link to={`/console?org=${encodeURIComponent(found.orgID)}`}>{found.orgID}</Link> /{' '}
      <Link to={pathname}>{nameOf(found)}</Link>
    </>
  );
}

function noticeOf(theirs: KeyDetails): string {
  const entry = entriesOf(theirs.history)[0];
  return editText.conflict.notice(entry ? whoOf(entry.actor) : editText.conflict.someone, theirs.version);
}

/** The fields whose secret is stored. */
function storedSecrets(definition: DefinitionFragment | null): ReadonlySet<string> {
  const stored = {
    hmacString: definition?.hmacStringSet,
    jwtData: definition?.jwtData?.secretSet,
    basicAuthData: definition?.basicAuthData?.passwordSet,
  };
  return new Set(Object.entries(stored).flatMap(([name, isSet]) => (isSet === true ? [name] : [])));
}
