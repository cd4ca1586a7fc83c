const width = 780;
const rowHeight = 28;
const barHeight = 16;
const left = 270;
const right = 110;

/** Returns an SVG of bars with whiskers from the smallest to the largest round, in a panel for each group. */
export function bars(
  /** @type {readonly { title: string, rows: readonly { label: string, note: string, isOurs: boolean, median: number, min: number, max: number }[] }[]} */ panels,
) {
  let y = 0;
  const parts = panels.flatMap(({ title, rows }) => {
    const most = Math.max(...rows.map(({ max }) => max), 1);
    const x = (/** @type {number} */ value) => left + (value / most) * (width - left - right);
    y += 34;
    const head = text(10, y - 12, title, 'font-weight="bold"');
    const drawn = rows.flatMap(({ label, note, isOurs, median, min, max }) => {
      const middle = y + rowHeight / 2;
      y += rowHeight;
      return [
        text(left - 8, middle + 4, label, 'text-anchor="end"'),
        `<rect x="${left}" y="${middle - barHeight / 2}" width="${round(x(median) - left)}" height="${barHeight}" fill="${isOurs ? '#2f7d5b' : '#9aa5b1'}"/>`,
        `<path d="M${round(x(min))} ${middle}H${round(x(max))}M${round(x(min))} ${middle - 5}v10M${round(x(max))} ${middle - 5}v10" stroke="#1f2933" fill="none"/>`,
        text(round(x(max)) + 6, middle + 4, note, ''),
      ];
    });
    return [head, ...drawn];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y + 10}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#ffffff"/>
${parts.join('\n')}
</svg>
`;
}

/** Plots the requests per second of every server by workload, and those of Keyfront by client. */
export function plot(
  /** @type {Record<string, ReturnType<typeof import('./report.mjs').figuresOf>>} */ results,
  /** @type {ReturnType<typeof import('./report.mjs').clientFigures>} */ clients = [],
) {
  const panels = Object.entries(results).map(([workload, { servers }]) => ({
    title: `${workload}: requests a second, median and range of the rounds`,
    rows: servers.map((server) => row(server, server.name === 'keyfront')),
  }));
  const byClient = {
    title: 'preview on Keyfront, by the headers of its client',
    rows: clients.map((client) => row(client, true)),
  };
  return bars(clients.length > 0 ? [...panels, byClient] : panels);
}

function row(
  /** @type {{ label: string, perSecond: import('./statistics.mjs').Spread, cpuUs: import('./statistics.mjs').Spread }} */
  { label, perSecond, cpuUs },
  /** @type {boolean} */ isOurs,
) {
  const note = `${Math.round(perSecond.median)} (${Math.round(cpuUs.median)} µs)`;
  return { label, note, isOurs, ...perSecond };
}

function text(
  /** @type {number} */ x,
  /** @type {number} */ y,
  /** @type {string} */ content,
  /** @type {string} */ more,
) {
  const escaped = content.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return `<text x="${x}" y="${y}" ${more}>${escaped}</text>`;
}

function round(/** @type {number} */ value) {
  return Math.round(value * 10) / 10;
}
