import { useRef, useState } from 'preact/hooks';
import { EditView } from '../edit/edit-view.js';
import { formatTime } from '../format.js';
import { StateBadge } from '../parts/badges.js';
import { Problem } from '../parts/problem.js';
import { QuietButton } from '../parts/quiet-button.js';
import { Link, navigate, useAddress } from '../router.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { useLoad } from '../use-load.js';
import { Definition } from './definition.js';
import { Gauge } from './gauge.js';
import { History } from './history.js';
import { ResetQuota } from './reset-quota.js';
import { readKey, type KeyDetails } from './read-key.js';
import { Usage } from './usage.js';

/** One key: its live quota, usage, definition and history, or the form that edits it. */
export function KeyView({ keyHash }: { readonly keyHash: string }) {
  const client = useClient('service');
  const { pathname, searchParams } = useAddress();
  const [isResetting, setIsResetting] = useState(false);
  const read = useLoad((signal) => readKey(client, keyHash, signal), [client, keyHash]);
  const found = read.data;
  // An edit stays if the key cannot be read again, such as with another credential.
  const edited = useRef(found);
  edited.current = found ?? edited.current;
  return (
    <>
      <p>
        <Link to="/console">{text.key.back}</Link> <span role="status">{read.isLoading ? text.loading : ''}</span>
      </p>
      <Problem error={read.error} retry={read.reload} />
      {edited.current && searchParams.has('edit') && (
        <EditView
          found={edited.current}
          onClose={() => {
            navigate(pathname);
            read.reload();
          }}
        />
      )}
      {found && !searchParams.has('edit') && (
        <>
          <Summary found={found} />
          <div class="columns">
            <Gauge found={found} onRenewed={read.reload} onReset={() => setIsResetting(true)} />
            <Usage found={found} />
          </div>
          <Definition definition={found.definition} />
          <History key={found.version} found={found} onReverted={read.reload} />
          {isResetting && <ResetQuota found={found} onDone={read.reload} onClose={() => setIsResetting(false)} />}
        </>
      )}
    </>
  );
}

function Summary({ found }: { readonly found: KeyDetails }) {
  const [isShown, setIsShown] = useState(false);
  const { definition, state, orgID, version, updatedAt, keyID, keyHash } = found;
  return (
    <section class="card" aria-labelledby="summary">
      <h2 id="summary">
        {definition?.alias || text.none} <StateBadge state={state} />
      </h2>
      <p>
        {orgID} · {text.key.version(version)} · {formatTime(updatedAt)} · <code>{keyHash}</code>
      </p>
      <p>
        {text.key.identifier}: <code>{isShown ? keyID : '••••••••'}</code>{' '}
        <QuietButton aria-pressed={isShown} onClick={() => setIsShown(!isShown)}>
          {isShown ? text.key.hide : text.key.show}
        </QuietButton>
      </p>
      <p>
        <Link to={`${location.pathname}?edit=yes`}>{text.key.edit}</Link>
      </p>
    </section>
  );
}
