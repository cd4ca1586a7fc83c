import { useState } from 'preact/hooks';
import { RevertOrgKeyDocument } from '../../client/client.js';
import { formatInteger, formatTime } from '../format.js';
import { Confirm } from '../parts/confirm.js';
import { Diff } from '../parts/diff.js';
import { Problem } from '../parts/problem.js';
import { QuietButton } from '../parts/quiet-button.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { required, useAction } from '../use-load.js';
import { readKey, type KeyDetails } from './read-key.js';

type Page = NonNullable<KeyDetails['history']>;
type Entry = NonNullable<NonNullable<NonNullable<Page['edges']>[number]>['node']>;

interface HistoryProps {
  readonly found: KeyDetails;
  readonly onReverted: () => void;
}

/** The changes of a key, newest first, each with a button that reverts to its version. */
export function History({ found, onReverted }: HistoryProps) {
  const client = useClient('service');
  const [pages, setPages] = useState<readonly Page[]>(found.history ? [found.history] : []);
  const [target, setTarget] = useState<number>();
  const oldest = pages.at(-1)?.pageInfo;
  const older = useAction(async () => {
    const { history } = await readKey(client, found.keyHash, undefined, oldest?.startCursor);
    if (history) setPages((shown) => [...shown, history]);
  });
  const entries = pages.flatMap(({ edges }) => (edges ?? []).flatMap((edge) => edge?.node ?? []).toReversed());
  return (
    <section class="card" aria-labelledby="history">
      <h2 id="history">{text.key.history}</h2>
      <ol class="timeline">
        {entries.map((entry) => (
          <Change
            key={entry.version}
            entry={entry}
            onRevert={entry.version < found.version ? () => setTarget(entry.version) : undefined}
          />
        ))}
      </ol>
      <Problem error={older.error} />
      {oldest?.hasPreviousPage && (
        <QuietButton disabled={older.isRunning} onClick={() => void older.run()}>
          {text.key.older}
        </QuietButton>
      )}
      {target !== undefined && (
        <Revert found={found} toVersion={target} onDone={onReverted} onClose={() => setTarget(undefined)} />
      )}
    </section>
  );
}

function by({ label, assertedName }: Entry['actor']): string {
  return assertedName === null ? text.key.by(label) : text.key.byAsserted(assertedName, label);
}

function Change({ entry, onRevert }: { readonly entry: Entry; readonly onRevert: (() => void) | undefined }) {
  const { version, operation, at, actor, reason, quotaUsedBeforeReset, changes } = entry;
  return (
    <li data-version={version}>
      <h3>
        {text.key.operations[operation]}, {text.key.version(version)}
      </h3>
      <p>
        <time dateTime={at}>{formatTime(at)}</time> {by(actor)}
      </p>
      {reason !== null && <p>{text.key.reason(reason)}</p>}
      {quotaUsedBeforeReset !== null && <p>{text.key.usedBeforeReset(formatInteger(quotaUsedBeforeReset))}</p>}
      <Diff changes={changes} />
      {onRevert && <QuietButton onClick={onRevert}>{text.key.revert(version)}</QuietButton>}
    </li>
  );
}

interface RevertProps {
  readonly found: KeyDetails;
  readonly toVersion: number;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function Revert({ found, toVersion, onDone, onClose }: RevertProps) {
  const client = useClient('service');
  const revert = useAction(async (reason: string | null) => {
    const variables = { keyHash: found.keyHash, toVersion, expectedVersion: found.version, reason };
    const { data, errors } = await client.send(RevertOrgKeyDocument, variables);
    required(data.revertOrgKey, errors, text.key.missing);
    onClose();
    onDone();
  });
  return (
    <Confirm
      title={text.key.revertTitle(toVersion)}
      confirm={text.key.revertConfirm}
      error={revert.error}
      isRunning={revert.isRunning}
      onConfirm={(reason) => void revert.run(reason)}
      onClose={onClose}
    >
      <p>{text.key.revertHint}</p>
    </Confirm>
  );
}
