// A server under test: its process, its requests and its figures.
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
 * @property {readonly string[]} flags options of V8
 * @property {{ server: string, load: string } | undefined} cpus
 * @property {number} connections
 */

/** @typedef {Awaited<ReturnType<typeof enter>>} Entrant */

/** Starts a server on a copy of the data folder, and, for a gateway, the service that it forwards to. */
export async function enter(
  /** @type {import('./servers.mjs').Server} */ server,
  /** @type {ProcessEnvironment} */ { workload, folder, flags, cpus, connections },
) {
  const { name } = server;
  const place = (/** @type {string} */ what) => join(folder.path, `${name}.${what}`);
  const data = folder.copy(name);
  // The CPU time of the service behind a gateway does not count, so it runs on the other processor.
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
  /** Confirmed updates, and requests with a broken connection, whose effect is unknown. */
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
    /** A request for the comparison of the responses of all servers, and for its size. */
    sample: requestOf(bodies[0]),
    /** Sends load for some seconds, with the headers of a client, and measures throughput, latency and CPU time. */
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
        /** The share of the server's processor that other processes used; NaN if it is not pinned to one. */
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

/** Converts a request to the form of `load.mjs`: a body is a POST to `/graphql`. */
function requestOf(/** @type {string | import('./load.mjs').Request | undefined} */ request) {
  return typeof request === 'object' ? request : { method: 'POST', path: '/graphql', body: request ?? '' };
}
