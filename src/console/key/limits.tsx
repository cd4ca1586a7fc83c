import type { DefinitionFragment } from '../../client/client.js';
import { formatQuota, formatRate, formatTime } from '../format.js';
import { Ago } from '../parts/time.js';
import { Link } from '../router.js';
import type { SectionProps } from './read-key.js';
import { keyText } from './strings.js';

const texts = keyText.limits;

type AccessRight = NonNullable<DefinitionFragment['accessRights']>[number];

/** The limits and the access that the definition states, in the units of people. */
export function Limits({ found: { definition, orgID } }: SectionProps) {
  return (
    <section class="panel" aria-labelledby="limits">
      <header>
        <h2 id="limits">{texts.title}</h2>
      </header>
      <div class="body">
        {definition ? <Facts definition={definition} orgID={orgID} /> : <p class="issue">{texts.damaged}</p>}
      </div>
    </section>
  );
}

function Facts({ definition, orgID }: { readonly definition: DefinitionFragment; readonly orgID: string }) {
  const { rate, per, quotaMax, quotaRenewalRate, expires, applyPolicies, accessRights, tags } = definition;
  return (
    <dl class="facts">
      <dt>{texts.rate}</dt>
      <dd>{formatRate(rate, per)}</dd>
      <dt>{texts.quota}</dt>
      <dd>{formatQuota(quotaMax, quotaRenewalRate)}</dd>
      <dt>{texts.expires}</dt>
      <dd>
        {expires == null || Number(expires) < 1 ? (
          texts.never
        ) : (
          <>
            {formatTime(expires)} (<Ago at={expires} />)
          </>
        )}
      </dd>
      <dt>{texts.policies}</dt>
      <dd>
        <Tags names={applyPolicies} filter="policy" />
      </dd>
      <dt>{texts.apis}</dt>
      <dd>{accessRights?.length ? <Access rights={accessRights} /> : texts.none}</dd>
      <dt>{texts.tags}</dt>
      <dd>
        <Tags names={tags} filter="tag" />
      </dd>
      <dt>{texts.organization}</dt>
      <dd>
        <Link to={`/console?org=${encodeURIComponent(orgID)}`}>{orgID}</Link>
      </dd>
    </dl>
  );
}

/** Names, each of which leads to the other keys that have it. */
function Tags({ names, filter }: { readonly names: readonly string[] | null; readonly filter: 'policy' | 'tag' }) {
  if (!names?.length) return <>{texts.none}</>;
  return (
    <>
      {names.map((name) => (
        <>
          <Link key={name} class="tag" to={`/console?${filter}=${encodeURIComponent(name)}`}>
            {name}
          </Link>{' '}
        </>
      ))}
    </>
  );
}

function Access({ rights }: { readonly rights: readonly AccessRight[] }) {
  return (
    <ul class="plain">
      {rights.map((right) => (
        <li key={right.label}>
          {right.apiName ?? right.apiID ?? right.label}
          <small>{summaryOf(right)}</small>
        </li>
      ))}
    </ul>
  );
}

/** What an access right allows: its versions, paths and limits. */
export function summaryOf({
  versions,
  allowedUrls,
  limit,
}: Pick<AccessRight, 'versions' | 'allowedUrls' | 'limit'>): string {
  const paths = (allowedUrls ?? []).map(({ methods, url }) => `${(methods ?? []).join(', ')} ${url ?? ''}`.trim());
  const limits = [
    limit?.rate != null && limit.rate >= 0 ? formatRate(limit.rate, limit.per) : undefined,
    limit?.quotaMax != null && Number(limit.quotaMax) > 0
      ? formatQuota(limit.quotaMax, limit.quotaRenewalRate)
      : undefined,
  ];
  return [
    ...(versions ?? []).filter((version) => version !== 'Default').map((version) => `version ${version}`),
    paths.length > 0 ? paths.join('; ') : texts.allPaths,
    ...limits.filter((part) => part !== undefined),
  ].join(' · ');
}
