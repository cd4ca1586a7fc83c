import { useEffect, useState } from 'preact/hooks';
import { OrganizationQuotaDocument, OrganizationsDocument, type OrganizationQuotaQuery } from '../../client/client.js';
import { formatCount, formatInteger } from '../format.js';
import { Empty } from '../parts/empty.js';
import { PageHead } from '../parts/page-head.js';
import { PageLinks } from '../parts/page-links.js';
import { Problem } from '../parts/problem.js';
import { QuotaBar } from '../parts/state.js';
import { TableHead } from '../parts/table-head.js';
import { addressWith, Link, useAddress } from '../router.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { nodesOf, required } from '../results.js';
import { useLoad } from '../use-load.js';
import { organizationsText } from './strings.js';

const pageSize = 20;

type Summary = NonNullable<NonNullable<OrganizationQuotaQuery['organization']>['quotaSummary']>;

/** The organizations that own keys, with the sums of their quotas. */
export function OrganizationsView() {
  const client = useClient('service');
  const { searchParams, search } = useAddress();
  const [after, before] = [searchParams.get('after'), searchParams.get('before')];
  const page = useLoad(
    async (signal) => {
      const variables = before === null ? { first: pageSize, after } : { last: pageSize, before };
      const { data, errors } = await client.send(OrganizationsDocument, variables, { signal });
      const connection = required(data.organizations, errors, text.notFound);
      return { ids: nodesOf(connection).map(({ id }) => id), pageInfo: connection.pageInfo };
    },
    [client, search],
  );
  const summaries = useSummaries(page.data?.ids);
  const { ids, pageInfo } = page.data ?? {};
  return (
    <>
      <PageHead title={text.nav.organizations}>{organizationsText.hint}</PageHead>
      <Problem error={page.error} retry={page.reload} />
      {ids?.length === 0 && (
        <Empty title={organizationsText.empty}>
          <p>{organizationsText.emptyHint}</p>
        </Empty>
      )}
      {ids !== undefined && ids.length > 0 && (
        <table class="panel organizations" aria-label={organizationsText.table}>
          <TableHead columns={organizationsText.columns} />
          <tbody>
            {ids.map((id) => (
              <Row key={id} id={id} summary={summaries.get(id)} />
            ))}
          </tbody>
        </table>
      )}
      {pageInfo && (
        <PageLinks pageInfo={pageInfo} addressOf={(place) => addressWith('/console/organizations', place)} />
      )}
    </>
  );
}

/** Reads the sums one after the other, because each reads all keys of its organization. Null if it cannot be read. */
function useSummaries(ids: readonly string[] | undefined): ReadonlyMap<string, Summary | null> {
  const client = useClient('service');
  const [summaries, setSummaries] = useState<ReadonlyMap<string, Summary | null>>(new Map());
  useEffect(() => {
    const { signal, abort } = abortable();
    const read = async () => {
      for (const id of ids ?? []) {
        const summary = await client.send(OrganizationQuotaDocument, { id }, { signal }).then(
          ({ data }) => data.organization?.quotaSummary ?? null,
          () => null,
        );
        if (signal.aborted) return;
        setSummaries((all) => new Map([...all, [id, summary]]));
      }
    };
    void read();
    return abort;
  }, [client, ids]);
  return summaries;
}

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

function Row({ id, summary }: { readonly id: string; readonly summary: Summary | null | undefined }) {
  const query = `?org=${encodeURIComponent(id)}`;
  return (
    <tr>
      <th scope="row">
        <Link to={`/console${query}`} class="name">
          {id}
        </Link>
      </th>
      {summary ? <Figures id={id} summary={summary} /> : <td colSpan={3}>{summary === null ? text.none : '…'}</td>}
    </tr>
  );
}

function Figures({ id, summary }: { readonly id: string; readonly summary: Summary }) {
  const { keyCount, limitedKeys, exhaustedKeys, max, used, remaining } = summary;
  return (
    <>
      <td>
        {formatCount(keyCount, 'key')}
        <small>
          {limitedKeys === 0 ? organizationsText.noQuota : organizationsText.limited(formatInteger(limitedKeys))}
        </small>
      </td>
      <td class="quota-cell">
        {limitedKeys > 0 ? (
          <>
            <QuotaBar quota={{ max, used, remaining, renewsAt: null }} label={text.quota.of(id)} />
            <small>
              {text.quota.usedOf(formatInteger(used), formatInteger(max))} ·{' '}
              {organizationsText.left(formatInteger(remaining))}
            </small>
          </>
        ) : (
          text.none
        )}
      </td>
      <td>
        {exhaustedKeys > 0 ? (
          <span class="state bad">{formatCount(exhaustedKeys, 'key')}</span>
        ) : (
          organizationsText.none
        )}
      </td>
    </>
  );
}
