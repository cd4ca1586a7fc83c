import { OrgKeyUsageDocument, type Client, type OrgKeyUsageQuery } from '../../client/client.js';
import { formatInteger, formatUTCDay } from '../format.js';
import { Chart } from '../parts/chart.js';
import { Problem } from '../parts/problem.js';
import { Ago } from '../parts/time.js';
import { required } from '../results.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { useLoad } from '../use-load.js';
import type { SectionProps } from './read-key.js';
import { keyText } from './strings.js';

const texts = keyText.use;
const shownDays = 30;
const dayMs = 86_400_000;

type Used = NonNullable<OrgKeyUsageQuery['orgKey']>;

async function readUsage(client: Client, keyHash: string, signal: AbortSignal): Promise<Used> {
  const { data, errors } = await client.send(OrgKeyUsageDocument, { by: { keyHash } }, { signal });
  return required(data.orgKey, errors, text.notFound);
}

/** When the key was last used, and its requests of the last 30 days. */
export function UseByDay({ found: { keyHash } }: SectionProps) {
  const client = useClient('service');
  const { data, error, isLoading, reload } = useLoad((signal) => readUsage(client, keyHash, signal), [client, keyHash]);
  return (
    <section class="panel" aria-labelledby="use">
      <header>
        <h2 id="use">{texts.title}</h2>
        {data && (
          <small>
            {data.lastUsedAt === null ? (
              texts.never
            ) : (
              <>
                {texts.last} <Ago at={data.lastUsedAt} />
              </>
            )}
          </small>
        )}
      </header>
      <div class="body">
        <Problem error={error} retry={reload} />
        {!data && isLoading && <p>{text.loading}</p>}
        {data?.usage && <Days usage={data.usage} />}
      </div>
    </section>
  );
}

/** A bar for each day, and a table of the days that have requests. */
function Days({ usage }: { readonly usage: NonNullable<Used['usage']> }) {
  const allowed = formatInteger(usage.allowed);
  const denied = formatInteger(usage.denied);
  if (usage.days.length === 0) return <p>{texts.none}</p>;
  const last = Date.parse(usage.to);
  const dayBefore = (days: number) => formatUTCDay((last - days * dayMs) / 1000);
  const sums = usage.days.map((one) => Number(one.allowed) + Number(one.denied));
  return (
    <>
      <p class="figures">{texts.sums(allowed, denied)}</p>
      <Chart
        title={texts.chartTitle}
        description={texts.chart(allowed, denied)}
        max={Math.max(...sums)}
        labels={[dayBefore(shownDays - 1), dayBefore((shownDays - 1) / 2), dayBefore(0)]}
        legend={
          <>
            <li class="allowed">{texts.allowed}</li>
            <li class="denied">{texts.denied}</li>
          </>
        }
      >
        {({ x, y }) =>
          usage.days.map((one, index) => {
            const day = shownDays - 1 - Math.round((last - Date.parse(one.day)) / dayMs);
            const width = (x(1) - x(0)) / shownDays;
            const left = x(0) + day * width + 1;
            const [sum = 0, good] = [sums[index], Number(one.allowed)];
            return (
              <g key={one.day}>
                <title>{texts.bar(one.day, formatInteger(one.allowed), formatInteger(one.denied))}</title>
                <rect class="allowed" x={left} y={y(good)} width={width - 2} height={y(0) - y(good)} />
                <rect class="denied" x={left} y={y(sum)} width={width - 2} height={y(good) - y(sum)} />
              </g>
            );
          })
        }
      </Chart>
      <details>
        <summary>{texts.table}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.day}</th>
              <th scope="col">{texts.allowed}</th>
              <th scope="col">{texts.denied}</th>
            </tr>
          </thead>
          <tbody>
            {usage.days.toReversed().map((one) => (
              <tr key={one.day}>
                <th scope="row">{one.day}</th>
                <td>{formatInteger(one.allowed)}</td>
                <td>{formatInteger(one.denied)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}
