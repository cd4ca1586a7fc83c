import { clients, headlineClient } from './clients.mjs';
import { ratios, spread } from './statistics.mjs';

/** @typedef {Awaited<ReturnType<typeof import('./workload.mjs').runWorkload>>} Found */

/** Aggregates rounds: medians, and the medians of the ratios to the bare server and to Apollo Server. */
export function figuresOf(/** @type {Found} */ { servers, ...sizes }) {
  const column = (/** @type {string} */ name, /** @type {'perSecond' | 'cpuUs'} */ figure) =>
    servers.find((server) => server.name === name)?.rounds?.map((round) => round[figure]);
  return {
    ...sizes,
    servers: servers.map(({ name, label, counts, audited, rounds = [] }) => {
      const of = (/** @type {keyof typeof rounds[0]} */ figure) => rounds.map((round) => Number(round[figure]));
      const errors = of('errors').reduce((sum, count) => sum + count, 0);
      const missing = audited === undefined ? 0 : counts.acknowledged - audited;
      return {
        name,
        label,
        perSecond: spread(of('perSecond')),
        cpuUs: spread(of('cpuUs')),
        cpuUsBehind: spread(of('cpuUsBehind')).median,
        p50Ms: spread(of('p50Ms')).median,
        p99Ms: spread(of('p99Ms')).median,
        memoryMiB: Math.max(...of('memoryMiB')),
        toRaw: ratios(of('perSecond'), column('raw', 'perSecond')),
        toApollo: ratios(of('perSecond'), column('apollo', 'perSecond')),
        cpuToRaw: ratios(of('cpuUs'), column('raw', 'cpuUs')),
        cpuToApollo: ratios(of('cpuUs'), column('apollo', 'cpuUs')),
        errors,
        firstError: rounds.find((round) => round.firstError)?.firstError ?? '',
        acknowledged: counts.acknowledged,
        audited,
        /** Whether no request failed, and the history has exactly the confirmed updates. */
        isSound: errors === 0 && missing <= 0 && missing >= -counts.unsure,
        loadOwnLoad: Math.max(...of('ownLoad')),
        rounds,
      };
    }),
  };
}

/** Returns the figures of each client, and its ratios to the fastest client of the same round. */
export function clientFigures(/** @type {Found} */ { servers }) {
  const [server] = servers;
  const roundsOf = (/** @type {string} */ name) => (server?.rounds ?? []).filter(({ stage }) => stage === name);
  const fastest = roundsOf(clients[0].name).map((_, index) =>
    Math.max(...clients.map(({ name }) => roundsOf(name)[index]?.perSecond ?? 0)),
  );
  return clients.map(({ name, label, headers }) => {
    const rounds = roundsOf(name);
    const perSecond = rounds.map((round) => round.perSecond);
    return {
      name,
      label,
      accept: [headers.Accept].flat().join(', '),
      perSecond: spread(perSecond),
      toFastest: ratios(perSecond, fastest),
      cpuUs: spread(rounds.map((round) => round.cpuUs)),
      errors: rounds.reduce((sum, { errors }) => sum + errors, 0),
      firstError: rounds.find((round) => round.firstError)?.firstError ?? '',
    };
  });
}

const titles = {
  preview: 'previewKey, every field selected',
  update: 'updateOrgKey with resetQuota, durable, over 1,000 keys',
  'rest-preview': 'POST /api/keys/preview',
  'rest-update': 'PUT /svc/org/keys/{keyID}?reset_quota=1, durable, over 1,000 keys',
};

/** Formats a run as Markdown. */
export function tables(
  /** @type {any} */ {
    date,
    commit,
    machine,
    loadAverage,
    loadAverageAfter,
    versions,
    conditions,
    results,
    clients: byClient,
  },
) {
  const { rounds, seconds, connections, flags, cpus } = conditions;
  const used = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const where = cpus ? 'server and load each on a processor of its own' : 'server and load on the same processors';
  return `# Keyfront beside other servers

${date}, commit ${commit}. ${machine}; load average ${loadAverage.toFixed(1)} before and ${loadAverageAfter.toFixed(1)} after.
${rounds} interleaved rounds of ${seconds} s, ${connections} keep-alive connections, ${where}, NODE_ENV=production,
V8 flags: ${flags.join(' ') || 'none'}. ${used.join(', ')}.
Medians of the rounds [smallest-largest]; a ratio is the median of the rounds' own ratios.
CPU is user and system time of the server process per request. Requests of GraphQL have the headers of ${headlineClient.label}, those of REST
the headers of curl.
${byClient ? clientSection(byClient) : ''}${Object.entries(results)
    .map(([workload, result]) => section(workload, result))
    .join('')}`;
}

function clientSection(/** @type {ReturnType<typeof clientFigures>} */ found) {
  const rows = found.map(({ label, accept, perSecond, toFastest, cpuUs, errors }) =>
    [label, `\`${accept}\``, ranged(perSecond, 0), ranged(toFastest, 2), ranged(cpuUs, 0), errors].join(' | '),
  );
  return `
## previewKey on Keyfront, by the headers of its client

| client | Accept | requests/s | × fastest | CPU µs | errors |
|---|---|---|---|---|---|
${rows.map((row) => `| ${row} |`).join('\n')}
`;
}

function section(/** @type {string} */ workload, /** @type {any} */ { requestBytes, responseBytes, servers }) {
  const isUpdate = workload.endsWith('update');
  const head = [
    'server',
    'requests/s',
    '× raw',
    '× Apollo',
    'CPU µs',
    'CPU × raw',
    'CPU × Apollo',
    'p50 ms',
    'p99 ms',
    'errors',
    'RSS MiB',
  ];
  if (isUpdate) head.push('confirmed = in history');
  const rows = servers.map((/** @type {any} */ one) => [
    labelOf(one),
    ranged(one.perSecond, 0),
    ranged(one.toRaw, 2),
    ranged(one.toApollo, 2),
    ranged(one.cpuUs, 0),
    ranged(one.cpuToRaw, 2),
    ranged(one.cpuToApollo, 2),
    one.p50Ms.toFixed(1),
    one.p99Ms.toFixed(1),
    one.errors,
    Math.round(one.memoryMiB),
    ...(isUpdate ? [one.acknowledged === one.audited ? one.audited : `${one.acknowledged} ≠ ${one.audited}`] : []),
  ]);
  const busiest = Math.round(100 * Math.max(...servers.map((/** @type {any} */ one) => one.loadOwnLoad)));
  const behind = servers.filter((/** @type {any} */ one) => one.cpuUsBehind > 0);
  return `
## ${titles[/** @type {keyof typeof titles} */ (workload)]}

A request of ${requestBytes} bytes gets a response of ${responseBytes}. The load took at most ${busiest} % of a processor.

| ${head.join(' | ')} |
|${'---|'.repeat(head.length)}
${rows.map((/** @type {unknown[]} */ row) => `| ${row.join(' | ')} |`).join('\n')}
${behind.map((/** @type {any} */ one) => `\n${one.label}: another ${Math.round(one.cpuUsBehind)} µs a request are spent behind it, on the other processor.\n`).join('')}`;
}

/** Formats a figure with its range. */
export function ranged(
  /** @type {import('./statistics.mjs').Spread | undefined} */ spread,
  /** @type {number} */ digits,
) {
  if (!spread) return '-';
  return `${spread.median.toFixed(digits)} [${spread.min.toFixed(digits)}-${spread.max.toFixed(digits)}]`;
}

/** Returns the label of a server in a table; ours is bold. */
export function labelOf(/** @type {{ name: string, label: string }} */ { name, label }) {
  return name === 'keyfront' ? `**${label}**` : label;
}
