import type { DefinitionFragment, EffectiveRightFragment } from '../../client/client.js';
import { formatInteger, formatList, formatQuota, formatRate, formatTime } from '../format.js';
import { Ago } from '../parts/time.js';
import { policyAddress } from '../policy-address.js';
import { Link } from '../router.js';
import { limitsOf, withOrigins, type ShownLimits } from './effective.js';
import type { KeyDetails, SectionProps } from './read-key.js';
import { keyText } from './strings.js';

const texts = keyText.limits;

type AccessRight = NonNullable<DefinitionFragment['accessRights']>[number];

/** The limits and the access that result from the key and its policies, and where each comes from. */
export function Limits({ found }: SectionProps) {
  return (
    <section class="panel" aria-labelledby="limits">
      <header>
        <h2 id="limits">{texts.title}</h2>
      </header>
      <div class="body">
        {found.definition ? (
          <Facts found={found} definition={found.definition} />
        ) : (
          <p class="issue">{texts.damaged}</p>
        )}
      </div>
    </section>
  );
}

function Facts({ found, definition }: { readonly found: KeyDetails; readonly definition: DefinitionFragment }) {
  const { effectiveAccess, orgID } = found;
  const { expires, applyPolicies, accessRights, tags, rate, per, quotaMax, quotaRenewalRate } = definition;
  const limits = limitsOf(found);
  const { values } = limits;
  const [shownRate, shownQuota] = rateAndQuota(limits);
  const hasPolicies = (applyPolicies ?? []).length > 0;
  const unknown = effectiveAccess?.unknownPolicyIDs ?? [];
  return (
    <div class="stack">
      {hasPolicies && !effectiveAccess && <p class="issue">{texts.policiesUnread}</p>}
      <dl class="facts">
        <dt>{texts.rate}</dt>
        <dd>
          {shownRate}
          {hasPolicies && (
            <Origin field="rate" limits={limits} own={rate == null ? undefined : formatRate(rate, per)} />
          )}
        </dd>
        <dt>{texts.quota}</dt>
        <dd>
          {shownQuota}
          {hasPolicies && (
            <Origin
              field="quotaMax"
              limits={limits}
              own={quotaMax == null ? undefined : formatQuota(quotaMax, quotaRenewalRate)}
            />
          )}
        </dd>
        {values.maxQueryDepth != null && (
          <>
            <dt>{texts.depth}</dt>
            <dd>
              {values.maxQueryDepth < 0 ? texts.noDepth : formatInteger(values.maxQueryDepth)}
              {hasPolicies && <Origin field="maxQueryDepth" limits={limits} />}
            </dd>
          </>
        )}
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
          <Policies names={applyPolicies ?? []} unknown={unknown} />
        </dd>
        <dt>{texts.apis}</dt>
        <dd>
          {effectiveAccess ? (
            <EffectiveAccess rights={effectiveAccess.accessRights} limits={limits} hasPolicies={hasPolicies} />
          ) : (
            <Access rights={accessRights ?? []} />
          )}
        </dd>
        <dt>{texts.tags}</dt>
        <dd>
          <Tags names={tags ?? []} />
        </dd>
        <dt>{texts.organization}</dt>
        <dd>
          <Link to={`/console?org=${encodeURIComponent(orgID)}`}>{orgID}</Link>
        </dd>
      </dl>
      {unknown.length > 0 && <p class="quiet-text">{texts.unknown(formatList(unknown))}</p>}
    </div>
  );
}

function rateAndQuota({ values }: ShownLimits): readonly [string, string] {
  return [formatRate(values.rate, values.per), formatQuota(values.quotaMax, values.quotaRenewalRate)];
}

interface OriginProps {
  readonly field: string;
  readonly limits: ShownLimits;
  /** The value of the key itself. */
  readonly own?: string | undefined;
}

/** Where a limit comes from, and what the key itself states if that has no effect. */
function Origin({ field, limits: { values, policyOf }, own }: OriginProps) {
  const policyID = policyOf(field);
  const isOwn = policyID === undefined && values[field as keyof typeof values] != null;
  return (
    <>
      {policyID !== undefined && (
        <small class="origin">
          {texts.fromPolicy} <Link to={policyAddress(policyID)}>{policyID}</Link>
        </small>
      )}
      {isOwn && <small class="origin">{texts.fromKey}</small>}
      {!isOwn && own !== undefined && <small class="origin">{texts.noEffect(own)}</small>}
    </>
  );
}

function Policies({ names, unknown }: { readonly names: readonly string[]; readonly unknown: readonly string[] }) {
  if (names.length === 0) return <>{texts.none}</>;
  return (
    <ul class="plain">
      {names.map((name) => (
        <li key={name}>
          {unknown.includes(name) ? (
            <>
              <Link class="tag" to={`/console?policy=${encodeURIComponent(name)}`}>
                {name}
              </Link>{' '}
              <span class="state warn">{texts.notImported}</span>
            </>
          ) : (
            <Link class="tag" to={policyAddress(name)}>
              {name}
            </Link>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Tags, each of which leads to the other keys that have it. */
function Tags({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return <>{texts.none}</>;
  return (
    <>
      {names.map((name) => (
        <>
          <Link key={name} class="tag" to={`/console?tag=${encodeURIComponent(name)}`}>
            {name}
          </Link>{' '}
        </>
      ))}
    </>
  );
}

interface EffectiveAccessProps {
  readonly rights: readonly EffectiveRightFragment[];
  /** The limits of the key as a whole. */
  readonly limits: ShownLimits;
  readonly hasPolicies: boolean;
}

function EffectiveAccess({ rights, limits, hasPolicies }: EffectiveAccessProps) {
  if (rights.length === 0) return <>{texts.none}</>;
  const ofKey = rateAndQuota(limits);
  return (
    <ul class="plain">
      {rights.map((right) => (
        <li key={right.apiID}>
          {right.apiName ?? right.apiID}
          <small>
            {[
              summaryOf({ ...right, limit: null }),
              ...rateAndQuota(withOrigins(right.limits)).filter((limit, index) => limit !== ofKey[index]),
            ].join(' · ')}
          </small>
          {hasPolicies && <RightOrigin policyIDs={right.policyIDs} />}
        </li>
      ))}
    </ul>
  );
}

function RightOrigin({ policyIDs }: { readonly policyIDs: readonly string[] }) {
  if (policyIDs.length === 0) return <small class="origin">{texts.fromKey}</small>;
  return (
    <small class="origin">
      {texts.fromPolicy}{' '}
      {policyIDs.map((policyID, index) => (
        <>
          {index > 0 && ', '}
          <Link key={policyID} to={policyAddress(policyID)}>
            {policyID}
          </Link>
        </>
      ))}
    </small>
  );
}

function Access({ rights }: { readonly rights: readonly AccessRight[] }) {
  if (rights.length === 0) return <>{texts.none}</>;
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
