import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatInteger } from '../format.js';

const height = 190;
const edge = { left: 64, right: 16, top: 14, bottom: 26 };

/** Where a value is in a chart, in pixels. */
export interface Scale {
  /** @param share - from 0, the beginning of the time shown, to 1, its end */
  readonly x: (share: number) => number;
  readonly y: (count: number) => number;
  readonly left: number;
  readonly right: number;
}

interface ChartProps {
  /** What the vertical axis counts. */
  readonly title: string;
  /** The content in words, for who does not see it. */
  readonly description: string;
  /** The largest count. */
  readonly max: number;
  /** The labels of the beginning, the middle and the end of the horizontal axis. */
  readonly labels: readonly [string, string, string];
  readonly legend: ComponentChildren;
  readonly children: (scale: Scale) => ComponentChildren;
}

/** A chart of counts in time, with labelled axes. Its text keeps its size at every width. */
export function Chart({ title, description, max, labels, legend, children }: ChartProps) {
  const { ref, width } = useWidth();
  const top = niceTop(max);
  const scale: Scale = {
    x: (share) => edge.left + share * (width - edge.left - edge.right),
    y: (count) => height - edge.bottom - (Math.min(count, top) / top) * (height - edge.top - edge.bottom),
    left: edge.left,
    right: width - edge.right,
  };
  // Requests are whole: a small number has no line between.
  const ticks = top < 5 ? [0, top] : [0, top / 2, top];
  return (
    <figure ref={ref}>
      <figcaption>
        <small>{title}</small>
      </figcaption>
      <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={description}>
        {ticks.map((count) => (
          <g key={count}>
            <line class="grid-line" x1={scale.left} x2={scale.right} y1={scale.y(count)} y2={scale.y(count)} />
            <text x={scale.left - 8} y={scale.y(count) + 4} text-anchor="end">
              {formatInteger(Math.round(count))}
            </text>
          </g>
        ))}
        {labels.map((label, index) => (
          <text key={index} x={scale.x(index / 2)} y={height - 6} text-anchor={['start', 'middle', 'end'][index]}>
            {label}
          </text>
        ))}
        {children(scale)}
      </svg>
      <ul class="legend">{legend}</ul>
    </figure>
  );
}

/** The width of an element in pixels. */
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
