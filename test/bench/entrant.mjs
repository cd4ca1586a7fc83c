// One server in the running: its process, its requests, and what has been found out about it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildClientSchema, getIntrospectionQuery } from 'graphql';
import { sendLoad } from './fleet.mjs';
import { auditedUpdates } from './folder.mjs';
import { ownWorkloads, workloadsOf } from './payload.mjs';
import { busyUs, startServer } from './process.mjs';
import { upstream } from './servers.mjs';
import { sendRequest } from './verify.mjs';

/**
 * @typedef {object} ProcessEnvironment
 * @property {import('./servers.mjs').Workload} workload
 * @property {ReturnType<typeof import('./folder.mjs').createFolder>} folder
 * @property {readonly string[]} flags V8's
 * @property {{ server: string, load: string } | undefined} cpus
 * @property {number} connections
 */

/** @typedef {Awaited<ReturnType<typeof enter>>} Entrant */

/** Starts a server on a copy of the data folder, and what stands behind it where it is a gateway. */
export async function enter(
  /** @type {import('./servers.mjs').Server} */ server,
  /** @type {ProcessEnvironment} */ { workload, folder, flags, cpus, connections },
) {
  const { name } = server;
  const place = (/** @type {string} */ what) => join(folder.path, `${name}.${what}`);
  const data = folder.copy(name);
  // Behind a gateway runs what is not counted as its work, and so on the other processor.
  const behind = server.isGateway
    ? await startServer(upstream, { data, log: place('upstream.log'), flags, cpus: cpus?.load })
    : undefined;
  const more = { BENCH_WORKLOAD: workload, ...(behind && { BENCH_UPSTREAM: behind.origin }) };
  const running = await startServer(server, { data, log: place('log'), flags, cpus: cpus?.server, more });

  const { bodies, good } = (behind ? { ...ownWorkloads, ...workloadsOf(await schemaOf(running.url)) } : ownWorkloads)[
    workload
  ];
  writeFileSync(place('bodies'), JSON.stringify(bodies));
  let offset = 0;
  /** Updates that a response confirmed, and requests that were cut off, which may have been done or not. */
  const counts = { acknowledged: 0, unsure: 0 };

  async function schemaOf(/** @type {string} */ url) {
    const { response } = await sendRequest(url, folder.headers, JSON.stringify({ query: getIntrospectionQuery() }));
    return buildClientSchema(response.data);
  }

  return {
    server,
    running,
    behind,
    counts,
    /** A request to compare the responses of all servers, and to measure its size. */
    sample: requestOf(bodies[0]),
    /** Sends load for some seconds, as one client, and measures what that took. */
    async measure(/** @type {number} */ seconds, /** @type {import('./clients.mjs').Client | undefined} */ client) {
      const job = {
        url: running.url,
        headers: folder.headersFor(workload, client),
        bodies: place('bodies'),
        offset,
        good,
        connections,
        seconds,
      };
      const look = () => ({
        at: performance.now(),
        own: running.cpuUs(),
        behind: behind?.cpuUs() ?? 0,
        all: cpus ? busyUs(cpus.server) : NaN,
      });
      const before = look();
      const found = await sendLoad(job, cpus?.load);
      const responses = found.good + found.errors;
      const after = look();
      const ownUs = after.own - before.own;
      if (responses === 0) throw new Error(`${name} returned no response in ${seconds} s.`);
      offset += responses;
      counts.acknowledged += found.good;
      counts.unsure += found.broken;
      return {
        perSecond: found.perSecond,
        cpuUs: ownUs / responses,
        cpuUsBehind: (after.behind - before.behind) / responses,
        /** The share of the server's processor that other processes used; NaN where it has none of its own. */
        others: (after.all - before.all - ownUs) / 1000 / (after.at - before.at),
        p50Ms: found.p50Ms,
        p99Ms: found.p99Ms,
        errors: found.errors + found.broken,
        firstError: found.firstError,
        memoryMiB: running.memoryMiB(),
        ownLoad: found.ownLoad,
      };
    },
    async leave() {
      await running.stop();
      await behind?.stop();
      return workload.endsWith('update') ? auditedUpdates(data) : undefined;
    },
  };
}

/** A request as `load.mjs` reads it: a body alone is posted to `/graphql`. */
function requestOf(/** @type {string | import('./load.mjs').Request | undefined} */ request) {
  return typeof request === 'object' ? request : { method: 'POST', path: '/graphql', body: request ?? '' };
}
