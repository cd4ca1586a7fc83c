import { KeyDeploymentsDocument, type KeyDeploymentsQuery } from '../../client/client.js';
import { Problem } from '../parts/problem.js';
import { Ago } from '../parts/time.js';
import { nodesOf, required } from '../results.js';
import { Link } from '../router.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { useInterval } from '../use-interval.js';
import { useLoad } from '../use-load.js';
import type { SectionProps } from './read-key.js';
import { keyText } from './strings.js';

const texts = keyText.deployments;

/** How often gateways that do not have the newest change are asked for again, in milliseconds. */
const pollMs = 2_000;

type Deployments = NonNullable<NonNullable<KeyDeploymentsQuery['orgKey']>['deployments']>;

/** Which gateways have the newest change of the key. */
export function DeploymentsOfKey({ found: { keyHash, version } }: SectionProps) {
  const client = useClient('service');
  const { data, error, reload } = useLoad(
    async (signal) => {
      const { data: read, errors } = await client.send(
        KeyDeploymentsDocument,
        { by: { keyHash }, first: 100 },
        { signal },
      );
      return required(required(read.orgKey, errors, text.notFound).deployments, errors, text.notFound);
    },
    [client, keyHash, version],
  );
  const found = nodesOf(data);
  useInterval(reload, found.some(({ isCurrent }) => !isCurrent) ? pollMs : undefined);
  return (
    <section class="panel" aria-labelledby="deployments">
      <header>
        <h2 id="deployments">{texts.title}</h2>
        {data && found.length > 0 && <small>{summaryOf(data)}</small>}
      </header>
      <div class="body">
        <Problem error={error} retry={reload} />
        {data && found.length === 0 && (
          <p>
            {texts.none} <Link to="/console/gateways">{texts.how}</Link>
          </p>
        )}
        {found.length > 0 && (
          <dl class="facts">
            {found.map(({ gateway, orgID, isCurrent, version: known, at }) => (
              <Entry key={`${gateway} ${orgID}`} name={gateway}>
                <span class={`state ${isCurrent ? 'ok' : 'warn'}`}>{isCurrent ? texts.current : texts.behind}</span>{' '}
                {!isCurrent && (known === null ? texts.unknown : texts.has(known))} <small>{texts.seen}</small>{' '}
                <Ago at={at} />
              </Entry>
            ))}
          </dl>
        )}
        {data?.pageInfo.hasNextPage && <p>{texts.more}</p>}
      </div>
    </section>
  );
}

function Entry({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function summaryOf({ edges }: Deployments): string {
  const all = edges ?? [];
  const current = all.filter((edge) => edge?.node?.isCurrent === true).length;
  return texts.summary(current, all.length);
}
