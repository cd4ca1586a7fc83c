import { useEffect, useState } from 'preact/hooks';
import { formatInteger, formatTime } from '../format.js';
import { text } from '../strings.js';
import type { KeyDetails } from './read-key.js';

/** A count of used requests at a time. */
interface Point {
  readonly at: Date;
  readonly used: number;
  readonly source: string;
}

const width = 480;
const height = 160;
const margin = 12;

/** The use of the quota over time: the counts that resets recorded in the history, and those of the live quota. */
export function Usage({ found }: { readonly found: KeyDetails }) {
  const [samples, setSamples] = useState<readonly Point[]>([]);
  const used = found.quota?.used;
  useEffect(() => {
    if (used === undefined) return;
    setSamples((all) => [...all, { at: new Date(), used: Number(used), source: text.usage.now }]);
  }, [found]);
  const points = [...pointsOf(found), ...samples].toSorted((one, other) => one.at.getTime() - other.at.getTime());
  const max = found.quota?.max == null ? undefined : Number(found.quota.max);
  return (
    <section class="card" aria-labelledby="usage">
      <h2 id="usage">{text.usage.title}</h2>
      {points.length > 1 ? <Chart points={points} max={max} /> : <p class="hint">{text.usage.few}</p>}
      {points.length > 0 && (
        <details>
          <summary>{text.usage.table}</summary>
          <table>
            <thead>
              <tr>
                <th scope="col">{text.usage.time}</th>
                <th scope="col">{text.usage.used}</th>
                <th scope="col">{text.usage.source}</th>
              </tr>
            </thead>
            <tbody>
              {points.map(({ at, used: count, source }, index) => (
                <tr key={index}>
                  <td>{formatTime(at.toISOString())}</td>
                  <td>{formatInteger(count)}</td>
                  <td>{source}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </section>
  );
}

/** The counts in the history: the count before each reset, and 0 after it and at the creation of the key. */
function pointsOf({ history }: KeyDetails): Point[] {
  const entries = (history?.edges ?? []).flatMap((edge) => edge?.node ?? []);
  return entries.flatMap(({ at, operation, version, quotaUsedBeforeReset }): Point[] => {
    const start = { at: new Date(at), used: 0, source: text.key.operations[operation] };
    if (version === 1) return [start];
    if (quotaUsedBeforeReset === null) return [];
    return [{ ...start, used: Number(quotaUsedBeforeReset), source: text.usage.beforeReset }, start];
  });
}

function Chart({ points, max }: { readonly points: readonly Point[]; readonly max: number | undefined }) {
  const times = points.map(({ at }) => at.getTime());
  const first = Math.min(...times);
  const span = Math.max(...times) - first || 1;
  const top = Math.max(1, max ?? 0, ...points.map(({ used }) => used));
  const x = (at: Date) => margin + ((at.getTime() - first) / span) * (width - 2 * margin);
  const y = (used: number) => height - margin - (used / top) * (height - 2 * margin);
  const line = points.map(({ at, used }, index) => `${index === 0 ? 'M' : 'L'}${x(at)} ${y(used)}`).join(' ');
  return (
    <figure>
      <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={text.usage.chart(points.length)}>
        <line class="axis" x1={margin} x2={width - margin} y1={y(0)} y2={y(0)} />
        {max !== undefined && <line class="limit" x1={margin} x2={width - margin} y1={y(max)} y2={y(max)} />}
        <path d={line} />
        {points.map(({ at, used, source }, index) => (
          <circle key={index} cx={x(at)} cy={y(used)} r="4">
            <title>{`${formatTime(at.toISOString())}: ${formatInteger(used)} (${source})`}</title>
          </circle>
        ))}
      </svg>
      <figcaption class="hint">
        {formatTime(new Date(first).toISOString())} – {formatTime(new Date(first + span).toISOString())}
        {max !== undefined && ` · ${text.usage.limit}: ${formatInteger(max)}`}
      </figcaption>
    </figure>
  );
}
