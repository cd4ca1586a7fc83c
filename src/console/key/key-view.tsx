import { useRef, useState } from 'preact/hooks';
import { formatExactTime, nameOf } from '../format.js';
import { keyHashAt } from '../key-address.js';
import { Button, CopyButton, QuietButton } from '../parts/button.js';
import { Menu } from '../parts/menu.js';
import { PageHead } from '../parts/page-head.js';
import { Problem } from '../parts/problem.js';
import { StateLabel } from '../parts/state.js';
import { Ago } from '../parts/time.js';
import { Link, useAddress } from '../router.js';
import { useClient, useSession } from '../session.js';
import { text } from '../strings.js';
import { useFollow } from '../use-follow.js';
import { useLoad } from '../use-load.js';
import { ChangeDialog, type ChangeName } from './changes.js';
import { EditPage } from './edit-page.js';
import { explainActive, explainState, type StateAction } from './explain-state.js';
import { entriesOf, whoOf } from './history-entries.js';
import { readKey, type KeyDetails, type SectionProps } from './read-key.js';
import { RotateDialog } from './rotation.js';
import { sections } from './sections.js';
import { keyText } from './strings.js';

/** One key: its state and why, its quota, its changes, its definition; or the form that edits it. */
export function KeyView() {
  const client = useClient('service');
  const { pathname, searchParams } = useAddress();
  const keyHash = keyHashAt(pathname) ?? '';
  const read = useLoad((signal) => readKey(client, keyHash, signal), [client, keyHash]);
  const [change, setChange] = useState<ChangeName | 'rotate'>();
  const isEditing = searchParams.has('edit');
  useFollow({ keyHash }, () => {
    if (!isEditing) read.reload();
  });
  const found = read.data;
  // An edit stays if the key cannot be read again, such as with another credential.
  const edited = useRef(found);
  edited.current = found ?? edited.current;
  if (isEditing && edited.current) return <EditPage found={edited.current} onClose={read.reload} />;
  return (
    <>
      {!found && <PageHead title={read.isLoading ? text.loading : text.nav.keys} trail={<Trail />} />}
      <Problem error={read.error} retry={read.reload} />
      {found && (
        <>
          <Summary found={found} onChange={setChange} />
          <Reason found={found} onChange={setChange} />
          <div class="grid">
            <Column name="main" found={found} onChanged={read.reload} />
            <Column name="side" found={found} onChanged={read.reload} />
          </div>
          {change === 'rotate' && (
            <RotateDialog found={found} onDone={read.reload} onClose={() => setChange(undefined)} />
          )}
          {change !== undefined && change !== 'rotate' && (
            <ChangeDialog change={change} found={found} onDone={read.reload} onClose={() => setChange(undefined)} />
          )}
        </>
      )}
    </>
  );
}

function Column({ name, ...props }: SectionProps & { readonly name: keyof typeof sections }) {
  return (
    <div class="stack" data-column={name}>
      {sections[name].map(({ name: section, component: Component, isPerVersion }) => (
        <Component key={isPerVersion ? `${section} ${props.found.version}` : section} {...props} />
      ))}
    </div>
  );
}

function Trail({ orgID }: { readonly orgID?: string }) {
  return (
    <>
      <Link to="/console">{text.nav.keys}</Link>
      {orgID !== undefined && (
        <>
          {' / '}
          <Link to={`/console?org=${encodeURIComponent(orgID)}`}>{orgID}</Link>
        </>
      )}
    </>
  );
}

interface HeadProps {
  readonly found: KeyDetails;
  readonly onChange: (change: ChangeName | 'rotate') => void;
}

function Summary({ found, onChange }: HeadProps) {
  const { can } = useSession();
  const { pathname } = useAddress();
  const { orgID, version, updatedAt, state, quota } = found;
  const last = entriesOf(found.history)[0];
  const isDeleted = state === 'DELETED';
  return (
    <PageHead
      title={nameOf(found)}
      trail={<Trail orgID={orgID} />}
      beside={<StateLabel {...found} />}
      actions={
        isDeleted ? (
          can('DELETE') && (
            <Button class="primary" onClick={() => onChange('restore')}>
              {keyText.restore}
            </Button>
          )
        ) : (
          <>
            {can('UPDATE') && quota?.max != null && (
              <Button onClick={() => onChange('reset')}>{keyText.quota.reset}</Button>
            )}
            {(can('UPDATE') || can('DELETE')) && (
              <Menu label={text.more} class="actions-menu">
                {can('UPDATE') && !found.rotation && (
                  <QuietButton data-closes onClick={() => onChange('rotate')}>
                    {keyText.rotate}
                  </QuietButton>
                )}
                {can('UPDATE') && (
                  <QuietButton data-closes onClick={() => onChange(state === 'INACTIVE' ? 'activate' : 'deactivate')}>
                    {state === 'INACTIVE' ? keyText.switchOn : keyText.switchOff}
                  </QuietButton>
                )}
                {can('DELETE') && (
                  <QuietButton data-closes class="quiet danger" onClick={() => onChange('delete')}>
                    {keyText.remove}
                  </QuietButton>
                )}
              </Menu>
            )}
            {can('UPDATE') && (
              <Link class="button primary" to={`${pathname}?edit=yes`}>
                {keyText.edit}
              </Link>
            )}
          </>
        )
      }
    >
      <Identifier keyID={found.keyID} />
      <span title={updatedAt === null ? undefined : formatExactTime(updatedAt)}>
        {keyText.version(version)} · {keyText.changed} <Ago at={updatedAt} />
        {last && ` by ${whoOf(last.actor)}`}
      </span>
    </PageHead>
  );
}

/** The identifier, which can be a token: shown and copied on demand only. */
function Identifier({ keyID }: { readonly keyID: string | null }) {
  const [isShown, setIsShown] = useState(false);
  if (keyID === null) return <span>{`${keyText.identifier} ${keyText.noIdentifier}`}</span>;
  return (
    <span class="identifier">
      {keyText.identifier} <code>{isShown ? keyID : '••••••••••'}</code>
      <QuietButton aria-pressed={isShown} onClick={() => setIsShown(!isShown)}>
        {isShown ? keyText.hide : keyText.show}
      </QuietButton>
      <CopyButton value={keyID} label={keyText.identifier} />
    </span>
  );
}

const actionLabels: Readonly<Record<StateAction, string>> = {
  restore: 'Restore the key',
  activate: 'Switch it on',
  policies: 'Change the policies',
  expiry: 'Change the expiry',
  limit: 'Raise the limit',
  reset: 'Reset the quota',
  access: 'Give access',
};

/** The field of the form that an action leads to. */
const editedFields: Partial<Record<StateAction, string>> = {
  expiry: 'expires',
  limit: 'quotaMax',
  access: 'accessRights',
  policies: 'applyPolicies',
};

/** Why the key is, or will be, accepted or rejected, and what to do about it. */
function Reason({ found, onChange }: HeadProps) {
  const { can } = useSession();
  const { pathname } = useAddress();
  const reason = explainState(found);
  if (!reason) return <p class="quiet-text why-fine">{explainActive(found)}</p>;
  const { tone, title, sentence, actions } = reason;
  return (
    <div class={`note ${tone === 'off' ? 'bad' : tone}`} role="note">
      <div>
        <b>{title}</b> {sentence}
      </div>
      <div class="actions">
        {actions.map((action) => {
          const field = editedFields[action];
          if (!can(action === 'restore' ? 'DELETE' : 'UPDATE')) return null;
          if (field !== undefined) {
            return (
              <Link key={action} class="button" to={`${pathname}?edit=${field}`}>
                {actionLabels[action]}
              </Link>
            );
          }
          return (
            <Button key={action} onClick={() => onChange(action as ChangeName)}>
              {actionLabels[action]}
            </Button>
          );
        })}
      </div>
    </div>
  );
}
