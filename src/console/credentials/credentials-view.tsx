import { useState } from 'preact/hooks';
import type { KeyCredentialState } from '../../client/client.js';
import { formatTime } from '../format.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { OrganizationChoice } from '../parts/organization-choice.js';
import { PageHead } from '../parts/page-head.js';
import { NextPage } from '../parts/page-links.js';
import { Problem } from '../parts/problem.js';
import { TableHead } from '../parts/table-head.js';
import { Ago } from '../parts/time.js';
import { addressWith, useAddress, type AddressParameters } from '../router.js';
import { useClient, useSession } from '../session.js';
import { text } from '../strings.js';
import { useLoad } from '../use-load.js';
import { IssueDialog } from './issue-dialog.js';
import { isOwn, mayRevoke, mayRotate, readCredentials, type Credential } from './read-credentials.js';
import { RevokeCredential, RotateCredential } from './replace-dialogs.js';
import { credentialsText as texts } from './strings.js';

const pageSize = 20;
const address = '/console/credentials';

type Action = 'rotate' | 'revoke';

/** The credentials: what each may do, whether it is used, and until when it is valid. */
export function CredentialsView() {
  const client = useClient('service');
  const { searchParams, search } = useAddress();
  const orgID = searchParams.get('org') ?? undefined;
  const after = searchParams.get('after');
  const [isIssuing, setIsIssuing] = useState(false);
  const [chosen, setChosen] = useState<{ readonly action: Action; readonly credential: Credential }>();
  const [done, setDone] = useState<string>();
  const page = useLoad(
    (signal) => readCredentials(client, { orgID: orgID ?? null, first: pageSize, after }, signal),
    [client, search],
  );
  const { credentials, pageInfo } = page.data ?? {};
  const to = (parameters: AddressParameters) => addressWith(address, { org: orgID, ...parameters });
  // A new secret is shown first: after the end of the viewer's own credential, the list would ask to sign in.
  const close = () => {
    setIsIssuing(false);
    setChosen(undefined);
    page.reload();
  };
  return (
    <>
      <PageHead
        title={text.nav.credentials}
        actions={
          <>
            <OrganizationChoice
              orgID={orgID}
              shown={(credentials ?? []).flatMap((one) => one.orgID ?? [])}
              addressOf={(org) => to({ org })}
            />
            <Button class="primary" onClick={() => setIsIssuing(true)}>
              {texts.issue}
            </Button>
          </>
        }
      >
        {texts.hint}
      </PageHead>
      <p role="status" class="quiet-text">
        {done}
      </p>
      <Problem error={page.error} retry={page.reload} />
      {credentials?.length === 0 && (
        <Empty title={after === null ? texts.empty : texts.emptyPage}>
          <p>{after === null ? texts.emptyHint : texts.emptyPageHint}</p>
        </Empty>
      )}
      {credentials !== undefined && credentials.length > 0 && (
        <table class="panel credentials cards" aria-label={texts.table}>
          <TableHead columns={texts.columns} />
          <tbody>
            {credentials.map((credential) => (
              <Row
                key={credential.id}
                credential={credential}
                onAct={(action) => {
                  setDone(undefined);
                  setChosen({ action, credential });
                }}
              />
            ))}
          </tbody>
        </table>
      )}
      <NextPage pageInfo={pageInfo} addressOf={to} />
      {isIssuing && <IssueDialog orgID={orgID} onClose={close} />}
      {chosen?.action === 'rotate' && <RotateCredential credential={chosen.credential} onClose={close} />}
      {chosen?.action === 'revoke' && (
        <RevokeCredential
          credential={chosen.credential}
          onDone={() => setDone(texts.revoked(chosen.credential.label))}
          onClose={close}
        />
      )}
    </>
  );
}

const tones = { ACTIVE: 'ok', REPLACED: 'warn', EXPIRED: 'off', REVOKED: 'off' } satisfies Record<
  KeyCredentialState,
  string
>;

interface RowProps {
  readonly credential: Credential;
  readonly onAct: (action: Action) => void;
}

function Row({ credential, onAct }: RowProps) {
  const { viewer } = useSession();
  const { id, label, kind, state, lastFour, orgID, lastUsedAt, revokedAt, expiresAt } = credential;
  const actions: readonly Action[] = [
    ...(mayRotate(credential, viewer) ? (['rotate'] as const) : []),
    ...(mayRevoke(credential) ? (['revoke'] as const) : []),
  ];
  return (
    <tr>
      <th scope="row">
        <span class="name">{label}</span> {isOwn(credential, viewer) && <span class="tag">{texts.own}</span>}
        <small>
          {texts.kinds[kind]} · <code>{id}</code>
          {lastFour !== null && ` · ${texts.ending(lastFour)}`}
        </small>
      </th>
      <td>
        <span class={`state ${tones[state]}`}>{texts.states[state]}</span>
        {revokedAt !== null && (
          <small>
            <Ago at={revokedAt} />
          </small>
        )}
      </td>
      <td data-label={texts.columns.may}>
        <Rights credential={credential} />
      </td>
      <td data-label={texts.columns.organization}>{orgID ?? texts.allOrganizations}</td>
      <td data-label={texts.columns.used}>{lastUsedAt === null ? texts.neverUsed : <Ago at={lastUsedAt} />}</td>
      <td data-label={texts.columns.expires}>
        {expiresAt === null ? (
          texts.neverExpires
        ) : (
          <>
            <Ago at={expiresAt} />
            <small>{formatTime(expiresAt)}</small>
          </>
        )}
      </td>
      <td>
        <div class="actions">
          {actions.map((action) => (
            <Button key={action} aria-label={`${texts[action]} ${label} (${id})`} onClick={() => onAct(action)}>
              {texts[action]}
            </Button>
          ))}
        </div>
      </td>
    </tr>
  );
}

/** What a credential may do, in the names of scopes. */
function Rights({ credential: { kind, scopes } }: { readonly credential: Credential }) {
  if (kind === 'MANAGEMENT') return <>{texts.previews}</>;
  if (scopes === null) return <>{texts.everything}</>;
  return (
    <div>
      {scopes.map((scope) => (
        <>
          <span key={scope} class="tag" title={text.scopes[scope]}>
            {scope.toLowerCase()}
          </span>{' '}
        </>
      ))}
    </div>
  );
}
