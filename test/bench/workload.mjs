// Runs a workload on all its servers, which run at once and are loaded in turn, in several rounds.
import { enter } from './entrant.mjs';
import { createFolder } from './folder.mjs';
import { sendRequest, requestREST, createComparison, requireSame } from './verify.mjs';

/**
 * @typedef {object} Plan
 * @property {import('./servers.mjs').Workload} workload
 * @property {readonly import('./servers.mjs').Server[]} servers
 * @property {number} rounds
 * @property {number} seconds
 * @property {number} warmUp
 * @property {number} connections
 * @property {readonly string[]} flags
 * @property {{ server: string, load: string } | undefined} cpus
 * @property {(line: string) => void} print
 * @property {readonly Stage[]} [stages] the stages of each round, if there are several
 */

/**
 * @typedef {object} Stage
 * @property {string} [name]
 * @property {() => void} [begin]
 * @property {import('./clients.mjs').Client} [client] the client whose headers are sent
 */

/** The options of a run on the command line, with their defaults. */
export const runOptions = /** @type {const} */ ({
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '3' },
  'warm-up': { type: 'string', default: '3' },
  connections: { type: 'string', default: '64' },
  flags: { type: 'string', default: '--max-semi-space-size=64' },
});

/** Returns the conditions of a run from its options. */
export function conditionsOf(
  /** @type {Record<keyof typeof runOptions, string>} */ options,
  /** @type {Plan['cpus']} */ cpus,
) {
  return {
    rounds: Number(options.rounds),
    seconds: Number(options.seconds),
    warmUp: Number(options['warm-up']),
    connections: Number(options.connections),
    flags: options.flags.split(' ').filter(Boolean),
    cpus,
  };
}

/** @type {readonly Stage[]} */
const oneStage = [{}];

/**
 * Runs a workload, with the same processes in all stages. Throws if servers return different results, or if the history
 * lacks confirmed updates.
 */
export async function runWorkload(/** @type {Plan} */ plan) {
  const folder = createFolder();
  /** @type {import('./entrant.mjs').Entrant[]} */
  const entrants = [];
  /** @type {Map<string, (Awaited<ReturnType<import('./entrant.mjs').Entrant['measure']>> & { stage: string | undefined })[]>} */
  const rounds = new Map(plan.servers.map(({ name }) => [name, []]));
  try {
    for (const server of plan.servers) entrants.push(await enter(server, { ...plan, folder }));
    const sizes = await verify(entrants, folder.headers);
    for (const entrant of entrants) await entrant.measure(plan.warmUp);
    for (let round = 0; round < plan.rounds; round += 1) {
      for (const [index, stage] of (plan.stages ?? oneStage).entries()) {
        stage.begin?.();
        // The order changes, so that no server is always first, or always after the same server.
        const first = (round + index) % entrants.length;
        for (const entrant of [...entrants.slice(first), ...entrants.slice(0, first)]) {
          const figures = await entrant.measure(plan.seconds, stage.client);
          rounds.get(entrant.server.name)?.push({ ...figures, stage: stage.name });
          const what = [plan.workload, stage.name, round + 1].filter(Boolean).join(' ');
          plan.write(`${what}: ${entrant.server.name}: ${Math.round(figures.perSecond)} a second`);
        }
      }
    }
    const results = [];
    for (const { server, counts, leave } of entrants.splice(0)) {
      results.push({
        name: server.name,
        label: server.label,
        counts,
        audited: await leave(),
        rounds: rounds.get(server.name),
      });
    }
    return { ...sizes, servers: results };
  } finally {
    await Promise.all(entrants.map(({ leave }) => leave()));
    folder.remove();
  }
}

/** Sends the same request to each server, and requires the same response. Returns the sizes of the request and the response. */
async function verify(
  /** @type {readonly import('./entrant.mjs').Entrant[]} */ entrants,
  /** @type {Record<string, string>} */ headers,
) {
  const compare = createComparison();
  /** @type {{ requestBytes: number, responseBytes: number } | undefined} */
  let sizes;
  for (const { server, running, behind, sample, counts } of entrants) {
    const { method, path, body } = sample;
    const { response, bytes } = await sendRequest(`${running.origin}${path}`, headers, body, method);
    sizes ??= { requestBytes: Buffer.byteLength(body), responseBytes: bytes };
    counts.acknowledged += 1;
    if (behind) {
      // A gateway returns the names of REST, like the service behind it, which gets the same request.
      requireSame(server, response, await requestREST(String(behind.origin), headers, body), false);
      counts.acknowledged += 1;
    } else compare(server, response);
  }
  return sizes;
}
