import { setTimeout as pause } from 'node:timers/promises';
import { printable } from '../lib/text.js';
import type { GatewayClient, ListedGateway } from './client/gateway-operations.js';
import { keyLocation, keysOptions, parseNumberOption, runKeysCommand, stringOption } from './client/run.js';
import type { CLICommand, OptionValues } from './command.js';
import { actorOption, parseOrgIDOption } from './input.js';
import { UsageError, type IO } from './io.js';
import { formatTable, toJSONLine } from './output.js';

const orgOption = { value: 'ID', description: 'Only gateways that have keys of this organization' };

export const listGatewaysCommand: CLICommand = {
  name: 'gateways list',
  summary: 'List the gateways that acknowledge changes, with their lag',
  description: `The lag is for how many seconds the oldest change has waited that the gateway has not acknowledged. ${keyLocation}`,
  options: { org: orgOption, ...keysOptions },
  exitCodes: { 0: 'done', 1: 'rejected; the reasons are printed', 2: 'invalid usage, or no access' },
  examples: ['keyfront gateways list --url https://keys.example.com'],
  run: listGateways,
  errorExitCode: 2,
};

async function listGateways(io: IO, options: OptionValues): Promise<number> {
  const orgID = parseOrgIDOption(options['org']);
  const call = { io, command: 'gateways list', options, access: 'read' } as const;
  return runKeysCommand(call, async ({ gateways, format }) => {
    const found = await gateways.list(orgID);
    if (format.isJSON) {
      for (const gateway of found) io.stdout(`${toJSONLine(toJSON(gateway))}\n`);
    } else if (found.length === 0) {
      io.stderr('No gateway acknowledges changes. Start its adapter with --gateway NAME.\n');
    } else {
      const rows = found.map(({ name, orgID: org, lag, lastSeen, cursor }) => [
        name,
        printable(org ?? 'all'),
        cursor === undefined ? `reads all keys for ${lag} s` : `${lag} s`,
        lastSeen,
      ]);
      io.stdout(formatTable([['NAME', 'ORGANIZATION', 'LAG', 'LAST SEEN'], ...rows]));
    }
    return 0;
  });
}

function toJSON({ name, orgID, lag, lastSeen, cursor, digest }: ListedGateway) {
  return {
    name,
    org_id: orgID ?? null,
    lag_seconds: lag,
    last_seen: lastSeen,
    cursor: cursor ?? null,
    digest: digest ?? null,
  };
}

export const forgetGatewayCommand: CLICommand = {
  name: 'gateways forget',
  summary: 'Remove a gateway that is gone',
  description: `Nothing waits for it any more. One that acknowledges again is added again. ${keyLocation}`,
  arguments: ['NAME'],
  options: {
    org: { value: 'ID', description: 'The organization of the gateway (default: a gateway with the keys of all)' },
    actor: actorOption,
    ...keysOptions,
  },
  exitCodes: { 0: 'done', 1: 'there is none, or rejected', 2: 'invalid usage, or no access' },
  examples: ['keyfront gateways forget edge-1'],
  run: async (io, options, [name = '']) => {
    const orgID = parseOrgIDOption(options['org']);
    return runKeysCommand({ io, command: 'gateways forget', options }, async ({ gateways }) => {
      await gateways.forget({ gateway: name, orgID });
      io.stderr(`Forgot the gateway ${name}.\n`);
      return 0;
    });
  },
  errorExitCode: 2,
};

export const driftCommand: CLICommand = {
  name: 'drift',
  summary: 'Compare the copy of a gateway with the keys',
  description: `Computes the digest that a complete copy has at the cursor of the gateway, and compares it with the digest that the gateway has acknowledged. While keys change, a copy can be newer than its cursor: then it compares again, up to five times. ${keyLocation}`,
  arguments: ['GATEWAY'],
  options: { org: { value: 'ID', description: 'Only the gateway of this organization' }, ...keysOptions },
  exitCodes: {
    0: 'the copy is complete at its cursor',
    1: 'it differs, is not known, or the request was rejected',
    2: 'invalid usage, or no access',
  },
  examples: ['keyfront drift edge-1 --url https://keys.example.com'],
  run: drift,
  errorExitCode: 2,
};

/** How often a copy that differs is compared again after its gateway has acknowledged more, and the time in between. */
const maxComparisons = 5;
const comparePauseMs = 1_000;

type Comparison = 'current' | 'different' | 'unknown';

async function drift(io: IO, options: OptionValues, [name = '']: readonly string[]): Promise<number> {
  const orgID = parseOrgIDOption(options['org']);
  const call = { io, command: 'drift', options, access: 'read' } as const;
  return runKeysCommand(call, async ({ gateways, format }) => {
    const found = (await gateways.list(orgID, [name])).filter((one) => orgID === undefined || one.orgID === orgID);
    if (found.length === 0) {
      io.stderr(`There is no gateway ${printable(name)}.\n`);
      return 1;
    }
    let isDifferent = false;
    for (const gateway of found) {
      const { state, keys, last } = await compare(gateways, gateway);
      isDifferent ||= state !== 'current';
      if (format.isJSON) {
        io.stdout(`${toJSONLine({ ...toJSON(last), drift: state, ...(keys !== undefined && { keys }) })}\n`);
      } else {
        const of = last.orgID === undefined ? '' : ` of ${printable(last.orgID)}`;
        io.stdout(`${last.name}${of}: ${describe(state, keys, last)}\n`);
      }
    }
    return isDifferent ? 1 : 0;
  });
}

function describe(state: Comparison, keys: number | undefined, { lag, cursor }: ListedGateway): string {
  if (state === 'current') return `has all ${keys} keys as they were at its cursor; its lag is ${lag} s`;
  if (state === 'different') return `differs from the ${keys} keys; let its adapter read all keys anew`;
  return cursor === undefined ? 'reads all keys anew' : 'sends no digest';
}

async function compare(gateways: GatewayClient, first: ListedGateway) {
  let last = first;
  for (let comparison = 1; ; comparison += 1) {
    const { cursor, digest, name, orgID } = last;
    if (cursor === undefined || digest === undefined) return { state: 'unknown', keys: undefined, last } as const;
    const expected = await gateways.digest(orgID, cursor);
    if (expected.digest === digest) return { state: 'current', keys: expected.keys, last } as const;
    if (comparison === maxComparisons) return { state: 'different', keys: expected.keys, last } as const;
    await pause(comparePauseMs);
    last = (await gateways.list(orgID, [name])).find((one) => one.orgID === orgID) ?? last;
  }
}

/** The options of a change that waits for gateways. */
export const waitOptions = {
  wait: {
    value: 'GATEWAYS',
    description: 'Wait until the gateways with these names have the change; separate several by commas',
  },
  'wait-timeout': { value: 'SECONDS', description: 'How long --wait waits at most (default 60)' },
};

/** The exit code when the change was made, and the gateways did not acknowledge it in time. */
export const notEverywhereExitCode = 3;
/** Its description. */
export const waitExitCodes: Readonly<Record<number, string>> = {
  [notEverywhereExitCode]: 'done, but with --wait: not all of the gateways have acknowledged it in time',
};

const defaultWaitSeconds = 60;
const maxWaitSeconds = 86_400;
const maxWaited = 50;
const waitPollMs = 500;

/** Waits for the gateways of `--wait`. */
interface DeploymentWait {
  /** Checks that there are such gateways, before the key is changed. @throws {UsageError} if there are none */
  readonly prepare: (gateways: GatewayClient, keyID: string) => Promise<void>;
  /** Waits until they have the newest change of the key. Resolves to the exit code. */
  readonly finish: (gateways: GatewayClient, keyID: string) => Promise<number>;
}

/** Reads the options `--wait` and `--wait-timeout`. @throws {UsageError} if they are not valid */
export function waitFrom(io: IO, options: OptionValues): DeploymentWait {
  const timeoutMs = (parseNumberOption(options, 'wait-timeout', maxWaitSeconds) ?? defaultWaitSeconds) * 1000;
  const text = stringOption(options, 'wait');
  const names = text?.split(',') ?? [];
  if (names.includes('') || names.length > maxWaited) {
    throw new UsageError(`--wait must be from 1 to ${maxWaited} names of gateways, separated by commas.`);
  }
  if (text === undefined && options['wait-timeout'] !== undefined) {
    throw new UsageError('--wait-timeout needs --wait.');
  }
  if (text === undefined) return { prepare: () => Promise.resolve(), finish: () => Promise.resolve(0) };
  return {
    prepare: async (gateways, keyID) => {
      const known = new Set((await gateways.deployments(keyID, names)).map(({ name }) => name));
      const missing = names.find((name) => !known.has(name));
      if (missing === undefined) return;
      throw new UsageError(`--wait: there is no gateway ${printable(missing)} with this key. Nothing was changed.`);
    },
    finish: async (gateways, keyID) => {
      const end = performance.now() + timeoutMs;
      for (;;) {
        const found = await gateways.deployments(keyID, names);
        const known = new Set(found.filter(({ isCurrent }) => isCurrent).map(({ name }) => name));
        const behind = names.filter(
          (name) => !known.has(name) || found.some((one) => one.name === name && !one.isCurrent),
        );
        if (behind.length === 0) {
          io.stderr(`${names.join(', ')}: acknowledged.\n`);
          return 0;
        }
        if (performance.now() >= end) {
          io.stderr(`${behind.join(', ')}: not acknowledged within ${timeoutMs / 1000} s. The change is made.\n`);
          return notEverywhereExitCode;
        }
        await pause(Math.min(waitPollMs, Math.max(1, end - performance.now())));
      }
    },
  };
}
