import { Fragment } from 'preact';
import { PolicyRowsDocument, type PolicyRowsQuery } from '../../client/client.js';
import { formatInteger, formatQuota, formatRate } from '../format.js';
import { Empty } from '../parts/empty.js';
import { PageHead } from '../parts/page-head.js';
import { PageLinks } from '../parts/page-links.js';
import { Problem } from '../parts/problem.js';
import { TableHead } from '../parts/table-head.js';
import { Ago } from '../parts/time.js';
import { policyAddress } from '../policy-address.js';
import { nodesOf, required, type NodeOf } from '../results.js';
import { addressWith, Link, useAddress } from '../router.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { useLoad } from '../use-load.js';
import { policiesText } from './strings.js';

const pageSize = 20;
const maxApis = 3;

type Policy = NodeOf<PolicyRowsQuery['keyPolicies']>;

/** The imported policies: what each governs, its limits and its APIs. */
export function PoliciesView() {
  const client = useClient('service');
  const { searchParams, search } = useAddress();
  const [after, before] = [searchParams.get('after'), searchParams.get('before')];
  const page = useLoad(
    async (signal) => {
      const variables = before === null ? { first: pageSize, after } : { last: pageSize, before };
      const { data, errors } = await client.send(PolicyRowsDocument, variables, { signal });
      const connection = required(data.keyPolicies, errors, policiesText.notFound);
      return { policies: nodesOf(connection), pageInfo: connection.pageInfo };
    },
    [client, search],
  );
  const { policies = [], pageInfo } = page.data ?? {};
  return (
    <>
      <PageHead title={text.nav.policies}>{policiesText.hint}</PageHead>
      <Problem error={page.error} retry={page.reload} />
      {page.data && policies.length === 0 && (
        <Empty title={policiesText.empty}>
          <p>{policiesText.emptyHint}</p>
          <p>
            <code>{policiesText.emptyCommand}</code>
          </p>
        </Empty>
      )}
      {policies.length > 0 && (
        <table class="panel policies cards" aria-label={policiesText.table}>
          <TableHead columns={policiesText.columns} />
          <tbody>
            {policies.map((policy) => (
              <Row key={policy.policyID} policy={policy} />
            ))}
          </tbody>
        </table>
      )}
      {pageInfo && <PageLinks pageInfo={pageInfo} addressOf={(place) => addressWith('/console/policies', place)} />}
    </>
  );
}

function Row({ policy }: { readonly policy: Policy }) {
  const { policyID, name, isInactive, governs, orgID, changedAt, version } = policy;
  return (
    <tr>
      <th scope="row">
        <Link to={policyAddress(policyID)} class="name">
          {name ?? policyID}
        </Link>{' '}
        {isInactive && <span class="state bad">{policiesText.off}</span>}
        {name !== null && <small>{policyID}</small>}
      </th>
      <td>
        <Parts governs={governs} />
      </td>
      <td data-label={policiesText.columns.limits}>
        {limitsOf(policy).map((limit) => (
          <div key={limit}>{limit}</div>
        ))}
      </td>
      <td data-label={policiesText.columns.apis}>{apisOf(policy)}</td>
      <td class="wide">{orgID ?? policiesText.allOrganizations}</td>
      <td data-label={policiesText.columns.changed}>
        <Ago at={changedAt} />
        <small>{policiesText.version(version)}</small>
      </td>
    </tr>
  );
}

/** The parts of a key that a policy governs. */
export function Parts({ governs }: Pick<Policy, 'governs'>) {
  return (
    <>
      {governs.map((part) => (
        <Fragment key={part}>
          <span class="tag">{policiesText.parts[part]}</span>{' '}
        </Fragment>
      ))}
    </>
  );
}

/** The limits that a policy states in the parts that it governs. */
function limitsOf({ governs, values }: Policy): readonly string[] {
  const { rate, per, quotaMax, quotaRenewalRate, maxQueryDepth } = values;
  const limits = [
    ...(governs.includes('RATE_LIMIT') && rate !== null ? [policiesText.rate(formatRate(rate, per))] : []),
    ...(governs.includes('QUOTA') && quotaMax !== null
      ? [policiesText.quota(formatQuota(quotaMax, quotaRenewalRate))]
      : []),
    ...(governs.includes('QUERY_DEPTH') && maxQueryDepth !== null
      ? [policiesText.depth(maxQueryDepth < 0 ? policiesText.anyDepth : formatInteger(maxQueryDepth))]
      : []),
  ];
  return limits.length > 0 ? limits : [policiesText.noLimits];
}

function apisOf({ governs, values: { accessRights } }: Policy): string {
  const apis = governs.includes('ACCESS_RIGHTS')
    ? (accessRights ?? []).map(({ apiName, apiID, label }) => apiName || apiID || label)
    : [];
  if (apis.length === 0) return policiesText.noApis;
  const more = apis.length - maxApis;
  return [apis.slice(0, maxApis).join(', '), ...(more > 0 ? [policiesText.more(formatInteger(more))] : [])].join(' ');
}
