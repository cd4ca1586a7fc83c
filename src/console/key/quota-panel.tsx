import { useEffect, useRef, useState } from 'preact/hooks';
import { formatDay, formatInteger, formatTime, usedShare } from '../format.js';
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

const height = 190;
const edge = { left: 64, right: 16, top: 14, bottom: 26 };

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
  const { ref, width } = useWidth();
  const used = Number(quota.used);
  const share = usedShare(quota) ?? 0;
  const pace = (used / (now - period.start)) * (period.end - period.start);
  const top = niceTop(Math.max(max, used));
  const x = (time: number) =>
    edge.left + ((time - period.start) / (period.end - period.start)) * (width - edge.left - edge.right);
  const y = (count: number) => height - edge.bottom - (Math.min(count, top) / top) * (height - edge.top - edge.bottom);
  const full = exhaustionAt(period, share, now);
  const end = full !== undefined && full < period.end ? { at: full, count: max } : { at: period.end, count: pace };
  // Requests are whole: a small limit has no line between.
  const ticks = top < 5 ? [0, top] : [0, top / 2, top];
  const days = [period.start, (period.start + period.end) / 2, period.end];
  const label = (time: number) =>
    period.end - period.start < 172_800_000 ? formatTime(time / 1000) : formatDay(time / 1000);
  return (
    <figure ref={ref}>
      <figcaption>
        <small>{texts.chartTitle}</small>
      </figcaption>
      <svg
        class="chart"
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={texts.chart(formatInteger(quota.used), formatTime(period.start / 1000))}
      >
        {ticks.map((count) => (
          <g key={count}>
            <line class="grid-line" x1={edge.left} x2={width - edge.right} y1={y(count)} y2={y(count)} />
            <text x={edge.left - 8} y={y(count) + 4} text-anchor="end">
              {formatInteger(Math.round(count))}
            </text>
          </g>
        ))}
        {days.map((time, index) => (
          <text key={time} x={x(time)} y={height - 6} text-anchor={['start', 'middle', 'end'][index]}>
            {label(time)}
          </text>
        ))}
        <line class="limit" x1={edge.left} x2={width - edge.right} y1={y(max)} y2={y(max)} />
        <path class="pace" d={`M${x(now)} ${y(used)} L${x(end.at)} ${y(end.count)}`} />
        <path class="area" d={`M${x(period.start)} ${y(0)} L${x(now)} ${y(used)} L${x(now)} ${y(0)} Z`} />
        <path class="line" d={`M${x(period.start)} ${y(0)} L${x(now)} ${y(used)}`} />
        <circle cx={x(now)} cy={y(used)} r="4">
          <title>{`${formatTime(now / 1000)}: ${formatInteger(quota.used)}`}</title>
        </circle>
      </svg>
      <ul class="legend">
        <li class="line">{texts.now}</li>
        <li class="pace">{texts.pace}</li>
        <li class="limit">{texts.limit}</li>
      </ul>
    </figure>
  );
}

/** The width of an element in pixels, so that the text of a chart keeps its size. */
function useWidth() {
  const ref = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(640);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)));
    if (ref.current) observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}

/** The next number from a count on whose half is round too: one that starts with 1, 2, 4, 6 or 8. Up to 4, the count. */
function niceTop(count: number): number {
  if (count <= 4) return Math.max(1, count);
  const magnitude = 10 ** Math.floor(Math.log10(count));
  return ([1, 2, 4, 6, 8].find((factor) => factor * magnitude >= count) ?? 10) * magnitude;
}
