import type { Config } from '../config/config.js';
import { nearest } from '../lib/nearest.js';
import { printable } from '../lib/text.js';
import type { Services } from '../storage/open-storage.js';
import { parseReceiverURL, RejectedAddressError, redactedURL } from '../webhooks/address-policy.js';
import { eventTypes as knownTypes, pingMessage } from '../webhooks/event.js';
import { createWebhookClient } from '../webhooks/http-client.js';
import { addWebhook, changeWebhook, rotateWebhook, untilReleased, webhookNotFound } from '../webhooks/manage.js';
import { webhookAAD, type DeliveryStats, type Webhook } from '../webhooks/webhook.js';
import { withServices } from './client/open.js';
import { stringOption } from './client/run.js';
import { type CLICommand, type OptionValues, storageVariables, type Option } from './command.js';
import { parseOrgIDOption, parseOverlap, confirm, notConfirmedExitCode, readLine, yesOption } from './input.js';
import { UsageError, type IO } from './io.js';
import { damagedExitCode } from './keys/damaged.js';
import {
  countOf,
  toJSONLine,
  jsonOption,
  selectOutputFormat,
  formatTable,
  printJSONResult,
  printSecret,
} from './output.js';

/** Exit codes of the commands that take a dead letter. */
const deadLetterExitCodes = { 1: 'there is no such webhook, or no such dead letter' } as const;

/** The option that selects one dead letter. */
const eventOption: Option = {
  value: 'ID',
  description: 'Select the dead letter with this event ID (default: all of the webhook)',
};

/** What a command for one webhook works with. */
interface WebhookCall {
  readonly io: IO;
  readonly options: OptionValues;
  readonly id: string;
  readonly services: Services;
  readonly config: Config;
}

interface WebhookDeclaration extends Omit<CLICommand, 'arguments' | 'examples' | 'run'> {
  readonly examples?: readonly string[];
  readonly access: 'read' | 'write';
  readonly run: (call: WebhookCall) => Promise<number>;
}

function webhookCommand({ access, run, ...command }: WebhookDeclaration): CLICommand {
  return {
    exitCodes: { 1: 'there is no such webhook' },
    examples: [`keyfront ${command.name} hook_4be1c2a09f7d3356`],
    ...command,
    arguments: ['ID'],
    options: { ...command.options, json: jsonOption },
    run: async (io, options, [id = '']) =>
      withServices(io, { access }, async (services, { config }) => run({ io, options, id, services, config })),
  };
}

/**
 * Finds a webhook by its ID.
 *
 * @throws {AppError} NOT_FOUND
 * @throws {Error} if its row fails the integrity check
 */
async function findWebhook({ webhooks }: Services, id: string): Promise<Webhook> {
  const { intact, damaged } = await webhooks.list();
  const webhook = intact.find((candidate) => candidate.id === id);
  if (webhook) return webhook;
  throw damaged.includes(id) ? new Error(damagedWebhookMessage(id)) : webhookNotFound(id);
}

/** Names a webhook for a person: also one whose row is damaged, which can be removed. */
async function nameOf({ webhooks, sealer }: Services, id: string): Promise<string> {
  const { intact, damaged } = await webhooks.list();
  if (damaged.includes(id)) return `the damaged webhook ${printable(id)}`;
  const webhook = intact.find((one) => one.id === id);
  if (!webhook) throw webhookNotFound(id);
  const receiver = redactedURL(new URL(sealer.open(webhook.sealedURL, webhookAAD(id, 'url'))));
  const label = webhook.label === '' ? '' : `${webhook.label}, `;
  return `the webhook ${printable(`${id} (${label}${receiver})`)}`;
}

async function deadLettersOf({ webhooks }: Services, id: string): Promise<string> {
  const stats = (await webhooks.deliveryStats()).find(({ webhookID }) => webhookID === id);
  return countOf(stats?.deadLetters ?? 0, 'dead letters');
}

/** Explains that a webhook is damaged, and what to do. */
export function damagedWebhookMessage(id: string): string {
  return `The row of the webhook ${printable(id)} fails the integrity check. Remove it with \`keyfront webhooks remove ID\`.`;
}

export const addWebhookCommand: CLICommand = {
  name: 'webhooks add',
  summary: 'Add a webhook that receives signed key changes, and print its signing secret once',
  description:
    'Standard output contains only the secret, in the format of Standard Webhooks (whsec_…). KEYFRONT_WEBHOOKS_TO selects which addresses a receiver may have.',
  options: {
    url: { value: 'URL', description: 'Address of the receiver; `-` reads it from standard input', isRequired: true },
    org: { value: 'ID', description: 'Send only changes of keys of this organization (default: all organizations)' },
    events: {
      value: 'TYPES',
      description: 'Send only events of these types, such as orgKey.deleted,orgKey.expired (default: all types)',
    },
    label: { value: 'TEXT', description: 'Name shown in lists' },
    json: jsonOption,
  },
  examples: [
    'keyfront webhooks add --url https://hooks.example.com/keys --org acme --label "billing"',
    'keyfront webhooks add --url https://hooks.example.com/expiry --events orgKey.expiring,orgKey.expired',
  ],
  environment: [...storageVariables, 'KEYFRONT_WEBHOOKS_TO', 'NODE_ENV'],
  run: add,
};

async function add(io: IO, options: OptionValues): Promise<number> {
  const orgID = parseOrgIDOption(options['org']);
  const label = stringOption(options, 'label') ?? '';
  const eventTypes = eventTypesFrom(stringOption(options, 'events') ?? '');
  const address = stringOption(options, 'url') ?? '';
  const urlText = address === '-' ? (await readLine(io)).trim() : address;
  return withServices(io, { access: 'write' }, async (services, { config }) => {
    const url = withUsageErrors(() => parseReceiverURL(urlText, config.webhooksTo));
    const { webhook, secret } = await addWebhook(services, { url, label, orgID, eventTypes });
    io.stderr(
      `Added ${webhook.id}. It receives every ${eventTypes.length > 0 ? 'event of these types' : 'change'} from now on. Save this secret now; it is not shown again:\n`,
    );
    printSecret(io, options, { id: webhook.id, secret });
    return 0;
  });
}

/** @throws {UsageError} for an unknown type */
function eventTypesFrom(text: string): readonly string[] {
  const types = text
    .split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '');
  const unknown = types.find((type) => !knownTypes.includes(type));
  if (unknown === undefined) return types;
  const suggestion = nearest(unknown, knownTypes);
  const advice = suggestion === undefined ? `The types are ${knownTypes.join(', ')}.` : `Did you mean ${suggestion}?`;
  throw new UsageError(`--events: there is no type of event ${printable(JSON.stringify(unknown))}. ${advice}`);
}

/** Turns a rejected address into a usage error: its message is for the person who typed the URL. */
function withUsageErrors(parse: () => URL): URL {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RejectedAddressError) throw new UsageError(`Invalid URL: ${error.message}.`);
    throw error;
  }
}

export const listWebhooksCommand: CLICommand = {
  name: 'webhooks list',
  summary: 'List webhooks with their pending and dead-lettered events',
  description: 'URLs are shortened to their origin; secrets are not shown.',
  options: { json: jsonOption },
  exitCodes: { 3: 'done, except for damaged rows, which are named' },
  examples: ['keyfront webhooks list'],
  run: list,
};

const headings = ['ID', 'STATE', 'FAILING KEYS', 'DEAD', 'ORGANIZATION', 'EVENTS', 'CREATED', 'RECEIVER', 'LABEL'];

async function list(io: IO, options: OptionValues): Promise<number> {
  const format = selectOutputFormat(io, options);
  return withServices(io, { access: 'read' }, async ({ webhooks, sealer }) => {
    const statsByWebhook = new Map((await webhooks.deliveryStats()).map((stats) => [stats.webhookID, stats]));
    const { intact, damaged } = await webhooks.list();
    const listed = intact.map((webhook) => {
      const url = new URL(sealer.open(webhook.sealedURL, webhookAAD(webhook.id, 'url')));
      return { webhook, receiver: redactedURL(url), stats: statsByWebhook.get(webhook.id) };
    });
    if (listed.length === 0) io.stderr('There are no webhooks.\n');
    else if (format.isJSON) for (const entry of listed) io.stdout(`${toJSONLine(toJSONObject(entry))}\n`);
    else io.stdout(formatTable([headings, ...listed.map(toRow)]));
    for (const id of damaged) io.stderr(`Skipped: ${damagedWebhookMessage(id)}\n`);
    return damaged.length > 0 ? damagedExitCode : 0;
  });
}

interface ListedWebhook {
  readonly webhook: Webhook;
  readonly receiver: string;
  readonly stats: DeliveryStats | undefined;
}

function toJSONObject({ webhook, receiver, stats }: ListedWebhook): object {
  const { id, label, orgID, eventTypes, created, paused } = webhook;
  return {
    id,
    label,
    ...(orgID !== undefined && { org_id: orgID }),
    ...(eventTypes && { events: eventTypes }),
    receiver,
    created: created.toISOString(),
    ...(paused && { paused: paused.at.toISOString(), paused_why: paused.why }),
    failing_keys: stats?.retryingKeys ?? 0,
    dead_letters: stats?.deadLetters ?? 0,
  };
}

function toRow({ webhook, receiver, stats }: ListedWebhook): string[] {
  const { id, label, orgID, eventTypes, created, paused } = webhook;
  return [
    id,
    paused ? `paused: ${printable(paused.why)}` : 'active',
    String(stats?.retryingKeys ?? 0),
    String(stats?.deadLetters ?? 0),
    printable(orgID ?? '(all)'),
    printable(eventTypes?.join(', ') ?? '(all)'),
    created.toISOString(),
    printable(receiver),
    printable(label),
  ];
}

export const testWebhookCommand = webhookCommand({
  name: 'webhooks test',
  summary: 'Send a signed ping to a webhook and print the status of the response',
  description: 'The ping is sent at once, before events that are pending.',
  exitCodes: { 1: 'there is no such webhook, or its response was not 2xx' },
  environment: [...storageVariables, 'KEYFRONT_WEBHOOKS_TO', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS'],
  access: 'read',
  run: async ({ io, options, id, services, config }) => {
    const webhook = await findWebhook(services, id);
    const client = createWebhookClient(webhook, {
      allowed: config.webhooksTo,
      timeoutMs: pingTimeoutMs,
      sealer: services.sealer,
    });
    try {
      const control = { abort: new AbortController().signal, maySend: () => true };
      const { status, isDelivered, description } = await client.send(pingMessage(id, services.now()), control);
      const hasResponse = status > 0;
      printJSONResult(io, options, hasResponse ? { id, status } : { id, error: description });
      io.stderr(hasResponse ? `The receiver returned ${status}.\n` : `No response: ${description}.\n`);
      return isDelivered ? 0 : 1;
    } finally {
      client.close();
    }
  },
});

const pingTimeoutMs = 10_000;

export const pauseWebhookCommand = webhookCommand({
  name: 'webhooks pause',
  summary: 'Pause a webhook',
  description: 'Changes made during the pause are sent after `webhooks resume`.',
  access: 'write',
  run: async ({ io, options, id, services }) => {
    const { webhooks, now } = services;
    const paused = { at: now(), why: 'by the command line' };
    await changeWebhook(webhooks, id, (webhook) => (webhook.paused ? webhook : { ...webhook, paused }));
    printJSONResult(io, options, { id, state: 'paused' });
    io.stderr(`Paused ${id}. Changes made from now on are sent after \`webhooks resume\`.\n`);
    return 0;
  },
});

export const resumeWebhookCommand = webhookCommand({
  name: 'webhooks resume',
  summary: 'Resume a paused webhook from where it stopped',
  description: 'Also resumes a webhook that the service has paused.',
  access: 'write',
  run: async ({ io, options, id, services }) => {
    const { webhooks } = services;
    await changeWebhook(webhooks, id, (webhook) => ({ ...webhook, paused: undefined }));
    printJSONResult(io, options, { id, state: 'active' });
    io.stderr(`Resumed ${id}.\n`);
    return 0;
  },
});

export const rotateWebhookCommand = webhookCommand({
  name: 'webhooks rotate',
  summary: 'Replace the signing secret of a webhook and print the new one once',
  description: 'Messages are signed with both secrets during the overlap period.',
  options: {
    overlap: { value: '24h', description: 'How long the old secret also signs; 0 stops it immediately (default 24h)' },
  },
  examples: ['keyfront webhooks rotate hook_4be1c2a09f7d3356 --overlap 7d'],
  access: 'write',
  run: async ({ io, options, id, services }) => {
    const overlapMs = parseOverlap(options);
    const { secret, until } = await rotateWebhook(services, id, overlapMs);
    // Printed before anything can fail: the secret is stored and cannot be shown again.
    io.stderr(`Rotated the secret of ${id}. Save this secret now; it is not shown again:\n`);
    printSecret(io, options, { id, secret });
    await untilReleased(services.webhooks, id);
    const state = overlapMs === 0 ? 'no longer signs' : `also signs until ${until.toISOString()}`;
    io.stderr(`The old secret ${state}.\n`);
    return 0;
  },
});

export const removeWebhookCommand = webhookCommand({
  name: 'webhooks remove',
  summary: 'Remove a webhook with its pending events and dead letters',
  options: { yes: yesOption },
  access: 'write',
  run: async ({ io, options, id, services }) => {
    const { webhooks } = services;
    const question = async () =>
      `Remove ${await nameOf(services, id)}, with its pending events and ${await deadLettersOf(services, id)}? They are not sent any more.`;
    if (!(await confirm(io, options, question))) return notConfirmedExitCode;
    if (!(await webhooks.remove(id))) throw webhookNotFound(id);
    await untilReleased(webhooks, id);
    printJSONResult(io, options, { id, removed: true });
    io.stderr(`Removed ${id} with its pending events.\n`);
    return 0;
  },
});

const maxListed = 1_000;

export const listDeadLettersCommand = webhookCommand({
  name: 'webhooks dead',
  summary: 'List the dead letters of a webhook, oldest first',
  description: `A dead letter is an event whose delivery failed permanently. Prints at most ${maxListed.toLocaleString('en')} events.`,
  access: 'read',
  run: async ({ io, options, id, services }) => {
    const format = selectOutputFormat(io, options);
    await findWebhook(services, id);
    const letters = await services.webhooks.deadLetters({ webhookID: id }, maxListed);
    if (letters.length === 0) {
      io.stderr('There are no dead letters.\n');
      return 0;
    }
    if (format.isJSON) {
      for (const { eventID, keyHash, version, failedAt, attempts, lastError, dueMs } of letters) {
        const letter = { event: eventID, key_hash: keyHash, version, given_up: failedAt?.toISOString(), attempts };
        io.stdout(`${toJSONLine({ ...letter, why: lastError, ...(dueMs !== undefined && { replayed: true }) })}\n`);
      }
      return 0;
    }
    const rows = letters.map(({ eventID, keyHash, version, failedAt, attempts, lastError, dueMs }) => [
      eventID,
      keyHash,
      String(version),
      failedAt?.toISOString() ?? '',
      String(attempts),
      `${printable(lastError)}${dueMs === undefined ? '' : ' (queued for replay)'}`,
    ]);
    io.stdout(formatTable([deadLetterHeadings, ...rows]));
    return 0;
  },
});

const deadLetterHeadings = ['EVENT', 'KEY HASH', 'VERSION', 'GIVEN UP', 'ATTEMPTS', 'WHY'];

export const replayDeadLettersCommand = webhookCommand({
  name: 'webhooks replay',
  summary: 'Queue dead letters for another delivery',
  description: 'Events keep their IDs. They may arrive after newer events.',
  options: { event: eventOption },
  exitCodes: deadLetterExitCodes,
  access: 'write',
  run: async ({ io, options, id, services }) => {
    const { paused } = await findWebhook(services, id);
    const selected = { webhookID: id, eventID: stringOption(options, 'event') };
    // The delivery worker compares due times with the clock of the machine.
    const count = await services.webhooks.replay(selected, Date.now());
    const when = paused ? '; they are sent after `webhooks resume`' : '';
    printJSONResult(io, options, { id, queued: count });
    io.stderr(count > 0 ? `Queued dead letters: ${count}${when}.\n` : 'There is no such dead letter.\n');
    return count > 0 ? 0 : 1;
  },
});

export const discardDeadLettersCommand = webhookCommand({
  name: 'webhooks discard',
  summary: 'Delete dead letters',
  options: { event: eventOption, yes: yesOption },
  exitCodes: deadLetterExitCodes,
  access: 'write',
  run: async ({ io, options, id, services }) => {
    const eventID = stringOption(options, 'event');
    await findWebhook(services, id);
    const question = async () => {
      const letters =
        eventID === undefined ? await deadLettersOf(services, id) : `the dead letter ${printable(eventID)}`;
      return `Delete ${letters} of ${await nameOf(services, id)}? The receiver never gets these changes.`;
    };
    if (!(await confirm(io, options, question))) return notConfirmedExitCode;
    const count = await services.webhooks.discard({ webhookID: id, eventID });
    await untilReleased(services.webhooks, id);
    printJSONResult(io, options, { id, deleted: count });
    io.stderr(count > 0 ? `Deleted dead letters: ${count}.\n` : 'There is no such dead letter.\n');
    return count > 0 ? 0 : 1;
  },
});
