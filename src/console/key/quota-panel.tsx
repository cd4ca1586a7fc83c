import { useEffect } from 'preact/hooks';
import { formatDay, formatInteger, formatTime, usedShare } from '../format.js';
import { Chart } from '../parts/chart.js';
import { Ago } from '../parts/time.js';
import type { Quota } from '../key-state.js';
import { QuotaBar } from '../parts/state.js';
import { useNow } from '../use-now.js';
import { limitsOf } from './effective.js';
import { exhaustionAt, periodOf, type Period } from './explain-state.js';
import type { SectionProps } from './read-key.js';
import { keyText } from './strings.js';

const texts = keyText.quota;

/** The live quota: how much is used, when it renews, and where the pace of the period leads. */
export function QuotaPanel({ found, onChanged }: SectionProps) {
  const { quota } = found;
  const now = useNow(10_000);
  const period = quota ? periodOf(quota.renewsAt, limitsOf(found).values.quotaRenewalRate, now) : undefined;
  const isRenewed = quota?.renewsAt != null && Date.parse(quota.renewsAt) <= now;
  useEffect(() => (isRenewed ? onChanged() : undefined), [isRenewed]);
  return (
    <section class="panel" aria-labelledby="quota">
      <header>
        <h2 id="quota">{texts.title}</h2>
        {quota?.renewsAt != null && (
          <small>
            {texts.renews} <Ago at={quota.renewsAt} /> · {formatTime(quota.renewsAt)}
          </small>
        )}
        {quota?.max != null && quota.renewsAt === null && <small>{texts.neverRenews}</small>}
      </header>
      <div class="body">
        {!quota && <p class="issue">{texts.unavailable}</p>}
        {quota?.max === null && (
          <p>
            {texts.none} {texts.counted(formatInteger(quota.used))}.
          </p>
        )}
        {quota?.max != null && <Figures quota={quota} max={quota.max} />}
        {quota?.max != null && period && (
          <PeriodChart quota={quota} max={Number(quota.max)} period={period} now={now} />
        )}
      </div>
    </section>
  );
}

function Figures({ quota, max }: { readonly quota: Quota; readonly max: number | string }) {
  const [used, limit] = [formatInteger(quota.used), formatInteger(max)];
  return (
    <>
      <p class="figures">
        <strong>{used}</strong> {texts.used(limit)}
        {quota.remaining !== null && <> · {texts.left(formatInteger(quota.remaining))}</>}
      </p>
      <QuotaBar quota={quota} label={texts.label(used, limit)} />
    </>
  );
}

interface ChartProps {
  readonly quota: Quota;
  readonly max: number;
  readonly period: Period;
  readonly now: number;
}

/**
 * The requests of the present period. Two points are known: none at its beginning, and the count of now. What lies
 * between them is not, so that the line to now is the average of the period, and the dashed one its continuation.
 */
function PeriodChart({ quota, max, period, now }: ChartProps) {
  const used = Number(quota.used);
  const length = period.end - period.start;
  const shareOf = (time: number) => (time - period.start) / length;
  const pace = used / shareOf(now);
  const full = exhaustionAt(period, usedShare(quota) ?? 0, now);
  const end = full !== undefined && full < period.end ? { at: full, count: max } : { at: period.end, count: pace };
  const label = (time: number) => (length < 172_800_000 ? formatTime(time / 1000) : formatDay(time / 1000));
  return (
    <Chart
      title={texts.chartTitle}
      description={texts.chart(formatInteger(quota.used), formatTime(period.start / 1000))}
      max={Math.max(max, used)}
      labels={[label(period.start), label(period.start + length / 2), label(period.end)]}
      legend={
        <>
          <li class="line">{texts.now}</li>
          <li class="pace">{texts.pace}</li>
          <li class="limit">{texts.limit}</li>
        </>
      }
    >
      {({ x, y, left, right }) => {
        const [first, present] = [`${x(0)} ${y(0)}`, `${x(shareOf(now))} ${y(used)}`];
        return (
          <>
            <line class="limit" x1={left} x2={right} y1={y(max)} y2={y(max)} />
            <path class="pace" d={`M${present} L${x(shareOf(end.at))} ${y(end.count)}`} />
            <path class="area" d={`M${first} L${present} L${x(shareOf(now))} ${y(0)} Z`} />
            <path class="line" d={`M${first} L${present}`} />
            <circle cx={x(shareOf(now))} cy={y(used)} r="4">
              <title>{`${formatTime(now / 1000)}: ${formatInteger(quota.used)}`}</title>
            </circle>
          </>
        );
      }}
    </Chart>
  );
}
