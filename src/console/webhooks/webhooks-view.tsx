import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { OrganizationChoice } from '../parts/organization-choice.js';
import { PageHead } from '../parts/page-head.js';
import { NextPage } from '../parts/page-links.js';
import { Problem } from '../parts/problem.js';
import { TableHead } from '../parts/table-head.js';
import { addressWith, Link, useAddress, type AddressParameters } from '../router.js';
import { useClient, useSession } from '../session.js';
import { text } from '../strings.js';
import { useLoad } from '../use-load.js';
import { webhookAddress, webhooksAddress } from '../webhook-address.js';
import { AddDialog } from './add-dialog.js';
import { RemoveWebhook } from './change-dialogs.js';
import { nameOfWebhook, readWebhooks, type Webhook } from './read-webhooks.js';
import { webhooksText as texts } from './strings.js';
import { WebhookState } from './webhook-state.js';

const pageSize = 20;

/** The webhooks: what each sends where, and whether it works. */
export function WebhooksView() {
  const client = useClient('service');
  const { can } = useSession();
  const { searchParams, search } = useAddress();
  const orgID = searchParams.get('org') ?? undefined;
  const after = searchParams.get('after');
  const [isAdding, setIsAdding] = useState(false);
  const [removed, setRemoved] = useState<string>();
  const page = useLoad(
    (signal) => readWebhooks(client, { orgID: orgID ?? null, first: pageSize, after }, signal),
    [client, search],
  );
  const { webhooks, pageInfo, damagedIDs } = page.data ?? {};
  const to = (parameters: AddressParameters) => addressWith(webhooksAddress, { org: orgID, ...parameters });
  return (
    <>
      <PageHead
        title={text.nav.webhooks}
        actions={
          <>
            <OrganizationChoice
              orgID={orgID}
              shown={(webhooks ?? []).flatMap((one) => one.orgID ?? [])}
              addressOf={(org) => to({ org })}
            />
            {can('READ') && (
              <Button class="primary" onClick={() => setIsAdding(true)}>
                {texts.add}
              </Button>
            )}
          </>
        }
      >
        {texts.hint}
      </PageHead>
      <Problem error={page.error} retry={page.reload} />
      {damagedIDs !== undefined && damagedIDs.length > 0 && (
        <Damaged ids={damagedIDs} onRemove={(id) => setRemoved(id)} />
      )}
      {webhooks?.length === 0 && (
        <Empty title={after === null ? texts.empty : texts.emptyPage}>
          <p>{after === null ? texts.emptyHint : texts.emptyPageHint}</p>
        </Empty>
      )}
      {webhooks !== undefined && webhooks.length > 0 && (
        <table class="panel cards" aria-label={texts.table}>
          <TableHead columns={texts.columns} />
          <tbody>
            {webhooks.map((webhook) => (
              <Row key={webhook.id} webhook={webhook} />
            ))}
          </tbody>
        </table>
      )}
      <NextPage pageInfo={pageInfo} addressOf={to} />
      {isAdding && (
        <AddDialog
          orgID={orgID}
          onClose={() => {
            setIsAdding(false);
            page.reload();
          }}
        />
      )}
      {removed !== undefined && (
        <RemoveWebhook
          id={removed}
          name={texts.unnamed(removed)}
          onDone={page.reload}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </>
  );
}

interface DamagedProps {
  readonly ids: readonly string[];
  readonly onRemove: (id: string) => void;
}

/** Webhooks whose rows cannot be believed. */
function Damaged({ ids, onRemove }: DamagedProps) {
  return (
    <div class="note bad" role="note">
      <div>
        <p>{texts.damaged}</p>
        <ul>
          {ids.map((id) => (
            <li key={id}>
              <code>{id}</code>{' '}
              <Button aria-label={`${texts.remove} ${id}`} onClick={() => onRemove(id)}>
                {texts.remove}
              </Button>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function Row({ webhook }: { readonly webhook: Webhook }) {
  const { id, receiver, orgID, eventTypes, failingKeys, deadLetterCount } = webhook;
  return (
    <tr>
      <th scope="row">
        <Link to={webhookAddress(id)} class="name">
          {nameOfWebhook(webhook)}
        </Link>
        <small>
          <code>{id}</code>
        </small>
      </th>
      <td>
        <WebhookState {...webhook} />
      </td>
      <td data-label={texts.columns.receiver} class="long">
        {receiver ?? texts.unreadable}
      </td>
      <td data-label={texts.columns.organization}>{orgID ?? texts.all}</td>
      <td data-label={texts.columns.events} title={eventTypes?.join(', ')}>
        {eventTypes === null ? texts.all : texts.events(eventTypes.length)}
      </td>
      <td data-label={texts.columns.failing}>{texts.count(failingKeys)}</td>
      <td data-label={texts.columns.dead}>{texts.count(deadLetterCount)}</td>
    </tr>
  );
}
