import { OrgKeyCountDocument } from '../../client/client.js';
import { formatCount } from '../format.js';
import { PageHead } from '../parts/page-head.js';
import { Problem } from '../parts/problem.js';
import { Ago } from '../parts/time.js';
import { policyIDAt } from '../policy-address.js';
import { Link, useAddress } from '../router.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { useLoad } from '../use-load.js';
import { ImpactOfChange } from './impact-of-change.js';
import { Parts } from './policies-view.js';
import { readPolicy } from './read-policies.js';
import { policiesText } from './strings.js';

/** One policy: what it governs, the keys that name it, and what a change of it would do. */
export function PolicyView() {
  const client = useClient('service');
  const { pathname } = useAddress();
  const policyID = policyIDAt(pathname) ?? '';
  const read = useLoad((signal) => readPolicy(client, policyID, signal), [client, policyID]);
  const policy = read.data;
  return (
    <>
      <PageHead
        title={policy?.name ?? policyID}
        trail={<Link to="/console/policies">{text.nav.policies}</Link>}
        beside={policy?.isInactive === true && <span class="state bad">{policiesText.off}</span>}
      >
        {policy && (
          <>
            <span>
              {policiesText.columns.policy} <code>{policy.policyID}</code>
            </span>
            <span>
              {policiesText.columns.organization}: {policy.orgID ?? policiesText.allOrganizations}
            </span>
            <span>
              {policiesText.version(policy.version)} · {policiesText.columns.changed.toLowerCase()}{' '}
              <Ago at={policy.changedAt} />
            </span>
            <span>
              {policiesText.columns.governs} <Parts governs={policy.governs} />
            </span>
          </>
        )}
      </PageHead>
      <Problem error={read.error} retry={read.reload} />
      {policy && (
        <>
          <Keys policyID={policy.policyID} />
          <ImpactOfChange key={`${policy.policyID} ${policy.version}`} policy={policy} />
        </>
      )}
    </>
  );
}

/** How many keys name a policy, and what happens to them without it. */
function Keys({ policyID }: { readonly policyID: string }) {
  const client = useClient('service');
  const count = useLoad(
    async (signal) => {
      const { data } = await client.send(OrgKeyCountDocument, { filter: { policy: policyID } }, { signal });
      return data.orgKeys?.totalCount;
    },
    [client, policyID],
  );
  const named = count.data == null ? text.loading : policiesText.keys.names(formatCount(count.data, 'key'));
  return (
    <section class="panel body bar" aria-label={policiesText.keys.title}>
      <p role="status">
        {count.error ? policiesText.keys.unknown : named} {count.data ? policiesText.keys.removal : ''}
      </p>
      <Link class="button" to={`/console?policy=${encodeURIComponent(policyID)}`}>
        {policiesText.keys.show}
      </Link>
    </section>
  );
}
