import { useState } from 'preact/hooks';
import { ForgetGatewayDocument, GatewaysDocument } from '../../client/client.js';
import { Button } from '../parts/button.js';
import { Confirm } from '../parts/dialog.js';
import { Empty } from '../parts/empty.js';
import { PageHead } from '../parts/page-head.js';
import { NextPage } from '../parts/page-links.js';
import { Problem } from '../parts/problem.js';
import { TableHead } from '../parts/table-head.js';
import { Ago } from '../parts/time.js';
import { nodesOf, required } from '../results.js';
import { addressWith, useAddress } from '../router.js';
import { useClient, useSession } from '../session.js';
import { text } from '../strings.js';
import { useAction, useLoad } from '../use-load.js';
import { compareCopy, type Comparison, type Gateway } from './compare.js';
import { gatewaysText } from './strings.js';

const pageSize = 20;

/** The gateways that say what they have: how far they are behind, and whether their copies are complete. */
export function GatewaysView() {
  const client = useClient('service');
  const { searchParams, search } = useAddress();
  const after = searchParams.get('after');
  const [forgotten, setForgotten] = useState<Gateway>();
  const page = useLoad(
    async (signal) => {
      const { data, errors } = await client.send(GatewaysDocument, { first: pageSize, after }, { signal });
      const connection = required(data.gateways, errors, text.notFound);
      return { gateways: nodesOf(connection), pageInfo: connection.pageInfo };
    },
    [client, search],
  );
  const { gateways, pageInfo } = page.data ?? {};
  return (
    <>
      <PageHead title={text.nav.gateways}>{gatewaysText.hint}</PageHead>
      <Problem error={page.error} retry={page.reload} />
      {gateways?.length === 0 && (
        <Empty title={gatewaysText.empty}>
          <p>{gatewaysText.emptyHint}</p>
          <p>
            <code>{gatewaysText.emptyCommand}</code>
          </p>
        </Empty>
      )}
      {gateways !== undefined && gateways.length > 0 && (
        <table class="panel organizations" aria-label={gatewaysText.table}>
          <TableHead columns={gatewaysText.columns} />
          <tbody>
            {gateways.map((gateway) => (
              <Row key={`${gateway.name} ${gateway.orgID}`} gateway={gateway} onForget={() => setForgotten(gateway)} />
            ))}
          </tbody>
        </table>
      )}
      <NextPage pageInfo={pageInfo} addressOf={(place) => addressWith('/console/gateways', place)} />
      {forgotten && <Forget gateway={forgotten} onDone={page.reload} onClose={() => setForgotten(undefined)} />}
    </>
  );
}

/** Behind by more than this, in seconds, a gateway is marked, as the alert in docs/deploy does. */
const maxLag = 60;

function Row({ gateway, onForget }: { readonly gateway: Gateway; readonly onForget: () => void }) {
  const { viewer, can } = useSession();
  const { name, orgID, lag, lastSeen, cursor } = gateway;
  const lagText = cursor === null ? gatewaysText.reading : gatewaysText.lag(lag);
  const mayForget = can('UPDATE') && (viewer?.orgID == null || viewer.orgID === orgID);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{orgID ?? gatewaysText.all}</td>
      <td>{lag > maxLag ? <span class="state bad">{lagText}</span> : lagText}</td>
      <td>
        <Ago at={lastSeen} />
      </td>
      <td>
        <div class="actions">
          <Copy gateway={gateway} />
          {mayForget && (
            <Button onClick={onForget} aria-label={`${gatewaysText.forget} ${name}`}>
              {gatewaysText.forget}
            </Button>
          )}
        </div>
      </td>
    </tr>
  );
}

/** Whether the copy of a gateway is complete, on request, because it reads all keys. */
function Copy({ gateway }: { readonly gateway: Gateway }) {
  const client = useClient('service');
  const { viewer } = useSession();
  const [result, setResult] = useState<Comparison | 'unknown'>();
  const compare = useAction(async () => setResult((await compareCopy(client, gateway)) ?? 'unknown'));
  if (gateway.digest === null) return <span>{gatewaysText.noDigest}</span>;
  // The keys of all organizations are not for a credential of one.
  if (viewer?.orgID != null && viewer.orgID !== gateway.orgID) return <span>{text.none}</span>;
  return (
    <>
      <span role="status">{result && describe(result)}</span>
      <Problem error={compare.error} />
      <Button
        onClick={() => void compare.run()}
        disabled={compare.isRunning}
        aria-label={`${gatewaysText.compare} ${gateway.name}`}
      >
        {compare.isRunning ? gatewaysText.comparing : gatewaysText.compare}
      </Button>
    </>
  );
}

function describe(result: Comparison | 'unknown'): string {
  if (result === 'unknown') return gatewaysText.reading;
  return result.isSame ? gatewaysText.same(result.keys) : gatewaysText.different;
}

interface ForgetProps {
  readonly gateway: Gateway;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function Forget({ gateway: { name, orgID }, onDone, onClose }: ForgetProps) {
  const client = useClient('service');
  const forget = useAction(async () => {
    await client.send(ForgetGatewayDocument, { gateway: name, orgID });
    onDone();
    onClose();
  });
  return (
    <Confirm
      title={gatewaysText.forgetTitle(name)}
      confirm={gatewaysText.forgetNow}
      isDangerous
      hasReason={false}
      action={forget}
      onClose={onClose}
    >
      <p>{gatewaysText.forgetHint}</p>
    </Confirm>
  );
}
