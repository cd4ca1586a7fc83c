import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.js';
import { readConfig } from '../../../src/config/config.js';
import type { Scope } from '../../../src/keys/key.js';
import { openServices } from '../../../src/storage/open-storage.js';
import { jsonLines, makeCommandLine, makeOwnCommandLine, serveFolder, type CommandLine } from '../../support/cli.js';
import { makeOwnPlace, postgres } from '../../support/engines.js';
import { hashOf } from '../../support/factories.js';
import { proposeIn } from '../../support/proposals.js';
import { startOwnReceiver } from '../../support/receiver.js';
import { tamper } from '../../support/tamper.js';

let c: CommandLine;
let folder = '';
/** Runs a command that an example depends on. */
const prepare = async (...args: string[]) => {
  const { code, out, stderr } = await c.keyfront(args);
  expect([code, stderr]).toStrictEqual([0, stderr]);
  return out;
};
const idOf = (out: string) => String((JSON.parse(out) as { id: string }).id);

const billing = { org_id: 'acme', alias: 'Billing', rate: 1, per: 1, tags: ['production'], apply_policies: ['gold'] };
const keys = [
  { key_id: 'acme-billing', ...billing },
  { key_id: 'acme-mobile', ...billing, alias: 'Mobile', expires: 1 },
];
const lines = keys.map((key) => `${JSON.stringify(key)}\n`).join('');

/** An installation with the files and the three versions of a key that the examples name, which each example gets a copy of. */
let made: CommandLine;
beforeAll(async () => {
  c = made = await makeCommandLine();
  folder = join(c.folder, '..');
  await prepare('init');
  await c.importKeys(keys);
  await c.file('keys.jsonl', lines);
  await c.file('billing.json', JSON.stringify({ ...billing, rate: 4 }));
  await c.file('policies.jsonl', '{"policy_id": "gold", "rate": 6, "per": 1}\n');
  await c.file('policies.yaml', '- policy_id: gold\n  rate: 7\n  per: 1\n');
  await c.file('rate.json', '{"rate": 6}');
  await mkdir(join(folder, 'keys'));
  await writeFile(join(folder, 'keys', 'billing.json'), JSON.stringify({ ...keys[0], rate: 5 }));
  await writeFile(join(folder, 'keys', 'mobile.json'), JSON.stringify({ ...keys[0], key_id: 'acme-new' }));
  for (const rate of [2, 3]) {
    await prepare('keys', 'put', 'acme-billing', await c.file('next.json', JSON.stringify({ ...billing, rate })));
  }
});
afterAll(() => made.remove());

const webhook = async () => {
  const { url } = await startOwnReceiver();
  return { hook_4be1c2a09f7d3356: idOf(await prepare('webhooks', 'add', '--to', url, '--json')) };
};
const credential = async () => ({
  cred_2e1c90b7d64f8a13: idOf(await prepare('credentials', 'issue', '--kind', 'service', '--label', 'old', '--json')),
});
const importPolicies = async () => ({ done: await prepare('policies', 'import', join(folder, 'policies.jsonl')) });
const proposal = async () => ({
  prop_0123456789abcdef0123456789abcdef: await proposeIn(c.folder, 'Proposed', { credentialID: 'cred_1' }),
});
const ownProposal = async () => ({
  prop_0123456789abcdef0123456789abcdef: await proposeIn(c.folder, 'Proposed', { credentialID: 'cli' }),
});
/** A gateway that has acknowledged that it reads all keys, so that nothing is known of its copy. */
const gateway = async () => {
  const { config, secrets } = readConfig({ KEYFRONT_DATA: c.folder });
  const services = await openServices(config, secrets);
  try {
    const at = new Date();
    await services.gateways.acknowledge({ orgID: undefined, name: 'edge-1', cursor: undefined, digest: undefined, at });
  } finally {
    await services.close();
  }
  return {};
};
const deadLetterCode = { prepare: webhook, code: 1 };

interface Preparation {
  /** Returns what takes the place of texts of the example. */
  readonly prepare?: () => Promise<Record<string, string>>;
  /** The scopes of the credential, if it needs one that permits more. */
  readonly scopes?: readonly Scope[];
  /** The exit code, if it is not 0. */
  readonly code?: number;
  /** Why the example cannot run here. */
  readonly missing?: string;
}

/** What an example needs besides the installation. */
const preparations: Readonly<Record<string, Preparation>> = {
  'keys apply --plan': { code: 2 },
  'keys diff': { code: 1 },
  'keys discard': {
    prepare: () => {
      const keyHash = hashOf('acme-mobile');
      tamper(join(c.folder, 'keyfront.db'), `UPDATE keys SET alias = 'forged' WHERE key_hash = unhex('${keyHash}')`);
      return Promise.resolve({ '6fdc04ab12e1': keyHash });
    },
  },
  'keys cancel-rotation': { prepare: async () => ({ done: await prepare('keys', 'rotate', 'acme-billing') }) },
  'keys restore': { prepare: async () => ({ done: await prepare('keys', 'delete', 'acme-billing') }) },
  'credentials rotate': { prepare: credential },
  'credentials revoke': { prepare: credential },
  'webhooks test': { prepare: webhook },
  'webhooks pause': { prepare: webhook },
  'webhooks resume': { prepare: webhook },
  'webhooks rotate': { prepare: webhook },
  'webhooks remove': { prepare: webhook },
  'webhooks dead': { prepare: webhook },
  // There is no dead letter.
  'webhooks replay': deadLetterCode,
  'webhooks discard': deadLetterCode,
  'gateways forget': { prepare: gateway },
  drift: { prepare: gateway, code: 1 },
  'policies diff': { code: 1 },
  'policies history': { prepare: importPolicies },
  'policies remove': { prepare: importPolicies },
  'proposals show': { prepare: proposal },
  'proposals approve': { prepare: proposal },
  'proposals reject': { prepare: proposal },
  'proposals withdraw': { prepare: ownProposal },
  'check --against': {
    prepare: async () => ({ written: await c.file('head.jsonl', await prepare('head', '--json')) }),
  },
  restore: {
    prepare: async () => {
      await prepare('backup', join(folder, 'backup'));
      const ring = await readFile(join(c.folder, 'key-ring.json'));
      await rm(c.folder, { recursive: true });
      await mkdir(c.folder, { mode: 0o700 });
      await writeFile(join(c.folder, 'key-ring.json'), ring, { mode: 0o600 });
      return { '/mnt/backups/2026-11-21': join(folder, 'backup') };
    },
  },
  'deliver file': {
    scopes: ['read', 'deliver'],
    prepare: async () => ({
      '/etc/nginx/keys.map': join(folder, 'keys.map'),
      'line.txt': await c.file('line.txt', '"{key}" "{org_id}";'),
      'nginx -s reload': 'true',
    }),
  },
  init: { prepare: () => Promise.resolve({ '/var/lib/keyfront': join(folder, 'new') }) },
  serve: { prepare: () => Promise.resolve({ '0.0.0.0': '127.0.0.1' }) },
  'migrate-store': {
    prepare: async () => {
      const { env } = await makeOwnPlace(postgres);
      return { 'postgres://keyfront@db.internal/keyfront': env['KEYFRONT_DATABASE_URL'] ?? '' };
    },
    ...(postgres.isMissing && { missing: postgres.name }),
  },
  'secrets promote': { prepare: async () => ({ done: await prepare('secrets', 'add') }) },
  'secrets prune': { prepare: async () => ({ done: await prepare('secrets', 'rotate') }) },
};

/** The words of the part of an example that calls the command line, and the settings before it. */
function callOf(example: string): {
  readonly env: Record<string, string>;
  readonly args: string[];
  readonly input?: string;
} {
  const [, before = '', call = ''] = /^(.*?)(?<!\S)keyfront (.*?)( [|>].*)?$/.exec(example) ?? [];
  const env = Object.fromEntries([...before.matchAll(/([A-Z_]+)=(\S+) /g)].map(([, name, value]) => [name, value]));
  const args = [...call.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
  return { env, args, ...(before.startsWith('zcat') && { input: lines }) };
}

it.each(commands)('the help of $name has an example, and every example calls it', ({ name, examples }) => {
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) expect(`${callOf(example).args.join(' ')} `.startsWith(`${name} `)).toBe(true);
});

describe('the example', () => {
  beforeEach(async () => {
    c = await makeOwnCommandLine();
    await cp(join(made.folder, '..'), join(c.folder, '..'), { recursive: true });
    folder = join(c.folder, '..');
  });

  for (const { name, examples } of commands) {
    for (const example of examples) {
      const { env, args, input } = callOf(example);
      const option = args.find((arg) => Object.hasOwn(preparations, `${name} ${arg}`));
      const preparation = preparations[option === undefined ? name : `${name} ${option}`] ?? {};
      const { code = 0, scopes, missing } = preparation;
      it.skipIf(missing !== undefined)(
        `\`${example}\` ends with ${code}${missing ? ` (${missing})` : ''}`,
        async () => {
          const texts: Record<string, string> = {
            '/mnt/backups/2026-11-21': join(folder, 'backup'),
            '/var/lib/keyfront': c.folder,
            ...(await preparation.prepare?.()),
          };
          const service = args.includes('https://keys.example.com') ? await serveFolder(c) : undefined;
          if (service) texts['https://keys.example.com'] = service.server.url;
          const filled = (text: string) => {
            const place = /^(keys\/|billing\.json|rate\.json|keys\.jsonl|head\.jsonl|policies\.)/.test(text)
              ? join(folder, text)
              : text;
            return texts[place] ?? place;
          };
          const permitted = scopes && (await service?.server.t.issue('service', { scopes }))?.secret;
          const credentials = service ? { KEYFRONT_SERVICE_CREDENTIAL: permitted ?? service.server.t.service } : {};
          const settings = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, filled(value)]));
          const outcome = await c.keyfront(
            args.map(filled),
            { PORT: '0', LOG_LEVEL: 'silent', ...credentials, ...settings },
            false,
            {
              ...(input !== undefined && { input }),
            },
          );
          expect([outcome.code, outcome.stderr]).toStrictEqual([code, outcome.stderr]);
          if (args.includes('--json')) expect(jsonLines(outcome.out)).toStrictEqual(expect.any(Array));
        },
      );
    }
  }
});
