// The compared servers, each of which is a process.
import { browserOrigin } from './clients.mjs';

/** @typedef {'preview' | 'update' | 'rest-preview' | 'rest-update'} Workload */

/**
 * @typedef {object} Server
 * @property {string} name in `--servers`
 * @property {string} label
 * @property {string} script path relative to this folder
 * @property {readonly string[]} [args]
 * @property {Record<string, string>} [env]
 * @property {readonly Workload[]} workloads
 * @property {boolean} [isPeer] whether it needs the packages of `peers/`
 * @property {boolean} [isBare] whether it does not implement GraphQL, and omits null values
 * @property {boolean} [isGateway] whether it forwards to a Keyfront process, whose CPU time is not counted
 */

const single = { BENCH_STORE: 'single' };
const both = /** @type {const} */ (['preview', 'update']);
const all = /** @type {const} */ ([...both, 'rest-preview', 'rest-update']);
const keyfront = { script: '../../dist/main.js', args: ['serve'] };

/** @type {readonly Server[]} */
export const servers = [
  { name: 'keyfront', label: 'Keyfront', ...keyfront, env: { KEYFRONT_CORS_ORIGINS: browserOrigin }, workloads: all },
  { name: 'raw', label: 'bare node:http, same core', script: 'servers/raw.mjs', workloads: all, isBare: true },
  {
    name: 'raw-exact',
    label: 'the same with Keyfront’s exact JSON',
    script: 'servers/raw.mjs',
    env: { BENCH_JSON: 'exact' },
    workloads: ['preview'],
    isBare: true,
  },
  {
    name: 'raw-single',
    label: 'bare node:http, single transactions',
    script: 'servers/raw.mjs',
    env: single,
    workloads: ['update', 'rest-update'],
    isBare: true,
  },
  { name: 'apollo', label: 'Apollo Server', script: 'peers/apollo.mjs', env: single, workloads: both, isPeer: true },
  { name: 'mercurius', label: 'Mercurius', script: 'peers/mercurius.mjs', env: single, workloads: both, isPeer: true },
  {
    name: 'mercurius-jit',
    label: 'Mercurius with JIT',
    script: 'peers/mercurius.mjs',
    env: { ...single, BENCH_JIT: 'on' },
    workloads: both,
    isPeer: true,
  },
  { name: 'yoga', label: 'Yoga', script: 'servers/yoga.mjs', env: single, workloads: both },
  {
    name: 'mesh',
    label: 'Mesh before Keyfront’s REST',
    script: 'peers/mesh.mjs',
    workloads: both,
    isPeer: true,
    isGateway: true,
  },
];

/** The service behind a gateway. */
export const upstream = { name: 'upstream', label: 'Keyfront behind Mesh', ...keyfront, workloads: both };
