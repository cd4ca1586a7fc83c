import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { PreviewOrgKeyRevertDocument, RevertOrgKeyDocument, type EntryFragment } from '../../client/client.js';
import { describeChanges } from '../describe-change.js';
import { formatInteger, formatList } from '../format.js';
import { Button, QuietButton } from '../parts/button.js';
import { Confirm } from '../parts/dialog.js';
import { Diff } from '../parts/diff.js';
import { Problem } from '../parts/problem.js';
import { Ago } from '../parts/time.js';
import { useClient, useSession } from '../session.js';
import { text } from '../strings.js';
import { required } from '../results.js';
import { useAction, useLoad } from '../use-load.js';
import { entriesOf, identityOf, whoOf } from './history-entries.js';
import { Notice, withNotices } from './notices.js';
import { readKey, type KeyDetails, type SectionProps } from './read-key.js';
import { keyText } from './strings.js';

const texts = keyText.activity;

/** The changes of a key and notices about it in sentences, the newest first, each with a button that reverts to its version. */
export function Activity({ found, onChanged }: SectionProps) {
  const client = useClient('service');
  const { can } = useSession();
  const [pages, setPages] = useState<readonly NonNullable<KeyDetails['history']>[]>(
    found.history ? [found.history] : [],
  );
  const [target, setTarget] = useState<number>();
  const oldest = pages.at(-1)?.pageInfo;
  const older = useAction(async () => {
    const { history } = await readKey(client, found.keyHash, undefined, oldest?.startCursor);
    if (history) setPages((shown) => [...shown, history]);
  });
  const items = withNotices(pages.flatMap(entriesOf), found.notices ?? [], oldest?.hasPreviousPage !== true);
  const canRevert = can('UPDATE') && found.state !== 'DELETED';
  return (
    <section class="panel" aria-labelledby="activity">
      <header>
        <h2 id="activity">{texts.title}</h2>
        <small>{texts.hint}</small>
      </header>
      {!found.history && <p class="issue body">{texts.unavailable}</p>}
      <ol class="feed">
        {items.map((item) => {
          if ('notice' in item) return <Notice key={item.notice.eventID} notice={item.notice} />;
          const { entry } = item;
          return (
            <Entry key={entry.version} entry={entry}>
              {canRevert && entry.version < found.version && (
                <QuietButton onClick={() => setTarget(entry.version)}>{texts.revertTo(entry.version)}</QuietButton>
              )}
            </Entry>
          );
        })}
      </ol>
      <Problem error={older.error} />
      {oldest?.hasPreviousPage && (
        <div class="body">
          <Button disabled={older.isRunning} onClick={() => void older.run()}>
            {texts.older}
          </Button>
        </div>
      )}
      {target !== undefined && (
        <Revert found={found} toVersion={target} onDone={onChanged} onClose={() => setTarget(undefined)} />
      )}
    </section>
  );
}

interface EntryProps {
  readonly entry: EntryFragment;
  /** What stands between who made the change and when, such as the key. */
  readonly subject?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** One change in a feed: who did what, when, why, and the values before and after. */
export function Entry({ entry, subject, children }: EntryProps) {
  const { version, operation, revertedTo, at, actor, reason, quotaUsedBeforeReset, changes } = entry;
  const identity = identityOf(actor);
  const isFirst = operation === 'CREATE' || operation === 'IMPORT';
  return (
    <li data-version={version}>
      <div class="what">
        <b>{whoOf(actor)}</b> {identity !== undefined && <small>({identity}) </small>}
        {texts.operations[operation]} {subject ?? (operation === 'UPDATE' ? whatOf(changes) : texts.key)}
        {revertedTo !== null && ` ${texts.toVersion(revertedTo)}`}
      </div>
      <div class="when">
        <small>
          <Ago at={at} /> · {keyText.version(version)}
        </small>
        {children}
      </div>
      {quotaUsedBeforeReset !== null && <p>{texts.reset(formatInteger(quotaUsedBeforeReset))}</p>}
      {changes.length > 0 && !isFirst && <Diff changes={changes} />}
      {reason !== null && <p class="why">“{reason}”</p>}
    </li>
  );
}

const maxNamed = 3;

/** What an update changed, in a few words. */
function whatOf(changes: EntryFragment['changes']): string {
  const labels = describeChanges(changes).map(({ label }) => label.toLowerCase());
  if (labels.length === 0) return texts.counter;
  return labels.length > maxNamed ? texts.many(formatInteger(labels.length)) : formatList(labels);
}

interface RevertProps {
  readonly found: KeyDetails;
  readonly toVersion: number;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function Revert({ found, toVersion, onDone, onClose }: RevertProps) {
  const client = useClient('service');
  const variables = { keyHash: found.keyHash, toVersion, expectedVersion: found.version };
  const preview = useLoad(
    async (signal) => {
      const { data, errors } = await client.send(PreviewOrgKeyRevertDocument, variables, { signal });
      return required(data.previewOrgKeyRevert, errors, text.notFound);
    },
    [client, found.version, toVersion],
  );
  const revert = useAction(async (reason: string | null) => {
    const { data, errors } = await client.send(RevertOrgKeyDocument, { ...variables, reason });
    required(data.revertOrgKey, errors, text.notFound);
    onClose();
    onDone();
  });
  const isEmpty = preview.data?.changes.length === 0;
  return (
    <Confirm
      title={texts.revertTitle(toVersion)}
      confirm={texts.revertConfirm}
      action={{ ...revert, error: revert.error ?? preview.error }}
      isDisabled={!preview.data || isEmpty}
      onClose={onClose}
    >
      <p role="status">{preview.isLoading ? text.loading : isEmpty ? texts.revertNothing : texts.revertHint}</p>
      {preview.data && <Diff changes={preview.data.changes} />}
    </Confirm>
  );
}
