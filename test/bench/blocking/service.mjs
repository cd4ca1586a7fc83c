// Starts the built service as a child process with the probe, and measures the effect of an operation.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { nodeOptions } from '../../../build/config/node-options.js';
import { memoryMiB, startServer } from '../process.mjs';
import { quantile } from '../statistics.mjs';

const probe = new URL('probe.mjs', import.meta.url).href;
const healthScript = new URL('health.mjs', import.meta.url).pathname;
const timeoutMs = 300_000;

/**
 * Starts the service with `env`, and the process that requests its health.
 *
 * @param {Record<string, string>} env
 * @param {{ management: string, service: string, bound: string, router: string }} secrets
 */
export async function startProbed(env, secrets) {
  const server = { name: 'keyfront', label: '', script: '../../dist/main.js', args: ['serve'], workloads: [] };
  const { KEYFRONT_DATA: data, ...more } = env;
  const started = await startServer(server, {
    data,
    log: join(data, 'service.log'),
    flags: [...nodeOptions, '--import', probe],
    cpus: undefined,
    more: { LOG_LEVEL: 'error', ...more },
    ipc: true,
  });
  const { child, origin, pid } = started;
  const health = fork(healthScript, [origin], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const agent = new Agent({ keepAlive: true });
  const headers = {
    management: { Authorization: `Bearer ${secrets.management}` },
    service: { 'X-Svc-Authorization': secrets.service },
    bound: { 'X-Svc-Authorization': secrets.bound },
    router: { 'X-Svc-Authorization': secrets.router },
  };
  const query = async (
    /** @type {import('node:child_process').ChildProcess} */ process,
    /** @type {string} */ message,
  ) => {
    const replied = once(process, 'message');
    process.send(message);
    return (await replied)[0];
  };

  return {
    /**
     * Sends an operation at least once, and sequentially for a number of seconds; a flood, for as many.
     *
     * @param {(import('./samples.mjs').Operation & { as?: 'bound' }) | import('./websocket-floods.mjs').Flood} operation
     * @param {number} seconds
     */
    async measure(operation, seconds) {
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
      await query(child, 'reset');
      health.send('begin');
      const began = performance.now();
      const responses = [];
      do {
        responses.push('flood' in operation ? await flooded(operation, seconds) : await send(operation));
      } while (!operation.isChange && performance.now() - began < seconds * 1_000);
      const tookMs = (performance.now() - began) / responses.length;
      // A change is sent once. Its health figures need as many samples as those of the others.
      while (performance.now() - began < seconds * 1_000) await new Promise((resolve) => setTimeout(resolve, 20));
      const { maxMs, cpuMs, collectorMs } = await query(child, 'read');
      const { latencies, failed, noiseMs } = await query(health, 'end');
      return {
        response: responses[0],
        requests: responses.length,
        tookMs,
        blockMs: maxMs,
        cpuMs,
        collectorMs,
        healthP50: quantile(latencies, 0.5),
        // A failed health request is worse than any slow one.
        healthP99: failed > 0 ? Infinity : quantile(latencies, 0.99),
        healthMax: quantile(latencies, 1),
        noiseMs,
        rssMiB: memoryMiB(pid, 'VmHWM'),
      };
    },
    stop: async () => {
      health.kill('SIGTERM');
      agent.destroy();
      await started.stop();
    },
  };

  /** Resolves to the status of the handshakes. */
  async function flooded({ flood }, /** @type {number} */ seconds) {
    await flood(origin, seconds, headers.service);
    return { status: 101, bytes: 0, code: '', message: '' };
  }

  /** @returns {Promise<{ status: number, bytes: number, code: string, message: string }>} */
  function send({ credential, as, method, path, body }) {
    const text = body?.();
    const json =
      text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
    const target = typeof path === 'function' ? path() : path;
    return new Promise((resolve, reject) => {
      const sent = request(
        `${origin}${target}`,
        { agent, method, headers: { ...headers[as ?? credential], Accept: 'application/json', ...json } },
        (response) => {
          let bytes = 0;
          let head = '';
          response.on('data', (/** @type {Buffer} */ chunk) => {
            if (head.length < 2_000) head += chunk.toString('utf8').slice(0, 2_000);
            bytes += chunk.length;
          });
          response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes, ...problemOf(head) }));
          response.on('error', reject);
        },
      );
      sent.setTimeout(timeoutMs, () =>
        sent.destroy(new Error(`no response to ${method} ${target} in ${timeoutMs} ms`)),
      );
      sent.on('error', reject);
      sent.end(text);
    });
  }
}

/** Returns the code and the message of the first error in the beginning of a response. */
function problemOf(/** @type {string} */ head) {
  const isError = head.includes('"errors":[') || head.includes('"status":"error"');
  const [, code = ''] = (isError && /"code":"([A-Z_]+)"/.exec(head)) || [];
  const [, message = ''] = (isError && /"message":"((?:[^"\\]|\\.)*)"/.exec(head)) || [];
  return { code, message };
}
