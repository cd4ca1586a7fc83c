import { nearest } from '../lib/nearest.js';
import { printable } from '../lib/text.js';
import { eventTypes as knownTypes } from '../webhooks/event.js';
import { webhookNotFound } from '../webhooks/manage.js';
import { connectionOptions } from './client/connection.js';
import { keyLocation, serviceURLOption, stringOption } from './client/run.js';
import {
  damagedWebhookMessage,
  runWebhooksCommand,
  type ShownWebhook,
  type WebhookOperations,
} from './client/webhook-operations.js';
import { type CLICommand, type OptionValues, serviceVariables, type Option } from './command.js';
import { parseOrgIDOption, parseSecretOverlap, confirm, notConfirmedExitCode, readLine, yesOption } from './input.js';
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

/** Options of a command that works on the data folder or at a service. */
const placeOptions = { url: serviceURLOption, ...connectionOptions } as const;

/** Variables of the commands that check or use the address of a receiver. */
const receiverVariables = [...serviceVariables, 'KEYFRONT_WEBHOOKS_TO', 'NODE_ENV'] as const;

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
  readonly webhooks: WebhookOperations;
}

interface WebhookDeclaration extends Omit<CLICommand, 'arguments' | 'examples' | 'run'> {
  readonly examples?: readonly string[];
  readonly access: 'read' | 'write';
  readonly run: (call: WebhookCall) => Promise<number>;
}

function webhookCommand({ access, run, description, ...command }: WebhookDeclaration): CLICommand {
  return {
    exitCodes: { 1: 'there is no such webhook' },
    examples: [`keyfront ${command.name} hook_4be1c2a09f7d3356`],
    ...command,
    description: description === undefined ? keyLocation : `${description} ${keyLocation}`,
    arguments: ['ID'],
    options: { ...command.options, ...placeOptions, json: jsonOption },
    run: async (io, options, [id = '']) =>
      runWebhooksCommand({ io, options, access }, (webhooks) => run({ io, options, id, webhooks })),
  };
}

/**
 * Finds a webhook for a person, also one whose row is damaged, which can be removed.
 *
 * @throws {AppError} NOT_FOUND
 */
async function findShown({ list }: WebhookOperations, id: string): Promise<{ name: string; deadLetters: string }> {
  const { intact, damaged } = await list();
  if (damaged.includes(id)) return { name: `the damaged webhook ${printable(id)}`, deadLetters: 'dead letters' };
  const webhook = intact.find((one) => one.id === id);
  if (!webhook) throw webhookNotFound(id);
  const label = webhook.label === '' ? '' : `${webhook.label}, `;
  return {
    name: `the webhook ${printable(`${id} (${label}${webhook.receiver ?? unreadable})`)}`,
    deadLetters: countOf(webhook.deadLetters, 'dead letters'),
  };
}

/** In place of a URL that cannot be decrypted. */
const unreadable = '(cannot be decrypted)';

export const addWebhookCommand: CLICommand = {
  name: 'webhooks add',
  summary: 'Add a webhook that receives signed key changes, and print its signing secret once',
  description: `Standard output contains only the secret, in the format of Standard Webhooks (whsec_…). KEYFRONT_WEBHOOKS_TO selects which addresses a receiver may have. ${keyLocation}`,
  options: {
    to: { value: 'URL', description: 'Address of the receiver; `-` reads it from standard input', isRequired: true },
    org: { value: 'ID', description: 'Send only changes of keys of this organization (default: all organizations)' },
    events: {
      value: 'TYPES',
      description: 'Send only events of these types, such as orgKey.deleted,orgKey.expired (default: all types)',
    },
    label: { value: 'TEXT', description: 'Name shown in lists' },
    ...placeOptions,
    json: jsonOption,
  },
  examples: [
    'keyfront webhooks add --to https://hooks.example.com/keys --org acme --label "billing"',
    'keyfront webhooks add --to https://hooks.example.com/expiry --events orgKey.expiring,orgKey.expired',
  ],
  environment: receiverVariables,
  run: add,
};

async function add(io: IO, options: OptionValues): Promise<number> {
  const orgID = parseOrgIDOption(options['org']);
  const label = stringOption(options, 'label') ?? '';
  const eventTypes = parseEventTypes(stringOption(options, 'events'));
  const address = stringOption(options, 'to') ?? '';
  const url = address === '-' ? (await readLine(io)).trim() : address;
  return runWebhooksCommand({ io, options, access: 'write' }, async (webhooks) => {
    const { id, secret } = await webhooks.add({ url, label, orgID, eventTypes });
    io.stderr(
      `Added ${id}. It receives every ${eventTypes.length > 0 ? 'event of these types' : 'change'} from now on. Save this secret now; it is not shown again:\n`,
    );
    printSecret(io, options, { id, secret });
    return 0;
  });
}

/**
 * The types in `--events`; none without the option. An empty value, which a script passes if its variable is not set, must
 * not select all types.
 *
 * @throws {UsageError} for an unknown type, or if there is none
 */
function parseEventTypes(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const types = text
    .split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '');
  if (types.length === 0) throw new UsageError(`--events must be some of ${knownTypes.join(', ')}.`);
  const unknown = types.find((type) => !knownTypes.includes(type));
  if (unknown === undefined) return types;
  const suggestion = nearest(unknown, knownTypes);
  const advice = suggestion === undefined ? `The types are ${knownTypes.join(', ')}.` : `Did you mean ${suggestion}?`;
  throw new UsageError(`--events: there is no type of event ${printable(JSON.stringify(unknown))}. ${advice}`);
}

export const listWebhooksCommand: CLICommand = {
  name: 'webhooks list',
  summary: 'List webhooks with their state, failing keys and dead letters',
  description: `URLs are shortened to their origin; secrets are not shown. ${keyLocation}`,
  options: { ...placeOptions, json: jsonOption },
  exitCodes: { 3: 'done, except for damaged rows, which are named' },
  examples: ['keyfront webhooks list'],
  run: list,
};

const headings = ['ID', 'STATE', 'FAILING KEYS', 'DEAD', 'ORGANIZATION', 'EVENTS', 'CREATED', 'RECEIVER', 'LABEL'];

async function list(io: IO, options: OptionValues): Promise<number> {
  const format = selectOutputFormat(io, options);
  return runWebhooksCommand({ io, options, access: 'read' }, async (webhooks) => {
    const { intact, damaged } = await webhooks.list();
    if (intact.length === 0) io.stderr('There are no webhooks.\n');
    else if (format.isJSON) for (const webhook of intact) io.stdout(`${toJSONLine(toJSONObject(webhook))}\n`);
    else io.stdout(formatTable([headings, ...intact.map(toRow)]));
    for (const id of damaged) io.stderr(`Skipped: ${damagedWebhookMessage(id)}\n`);
    return damaged.length > 0 ? damagedExitCode : 0;
  });
}

function toJSONObject(webhook: ShownWebhook): object {
  const { id, label, orgID, eventTypes, receiver, created, paused, retryingKeys, deadLetters } = webhook;
  return {
    id,
    label,
    ...(orgID !== undefined && { org_id: orgID }),
    ...(eventTypes && { events: eventTypes }),
    receiver: receiver ?? null,
    created: created.toISOString(),
    ...(paused && { paused: paused.at.toISOString(), paused_why: paused.why }),
    failing_keys: retryingKeys,
    dead_letters: deadLetters,
  };
}

function toRow(webhook: ShownWebhook): string[] {
  const { id, label, orgID, eventTypes, receiver, created, paused, retryingKeys, deadLetters } = webhook;
  return [
    id,
    paused ? `paused: ${printable(paused.why)}` : 'active',
    String(retryingKeys),
    String(deadLetters),
    printable(orgID ?? '(all)'),
    printable(eventTypes?.join(', ') ?? '(all)'),
    created.toISOString(),
    printable(receiver ?? unreadable),
    printable(label),
  ];
}

export const testWebhookCommand = webhookCommand({
  name: 'webhooks test',
  summary: 'Send a signed ping to a webhook and print the status of the response',
  description: 'The ping is sent at once, before events that are pending.',
  exitCodes: { 1: 'there is no such webhook, or its response was not 2xx' },
  environment: receiverVariables,
  access: 'read',
  run: async ({ io, options, id, webhooks }) => {
    const { status, isDelivered, description } = await webhooks.test(id);
    printJSONResult(io, options, status === undefined ? { id, error: description } : { id, status });
    io.stderr(status === undefined ? `No response: ${description}.\n` : `The receiver returned ${status}.\n`);
    return isDelivered ? 0 : 1;
  },
});

export const pauseWebhookCommand = webhookCommand({
  name: 'webhooks pause',
  summary: 'Pause a webhook',
  description: 'Changes made during the pause are sent after `webhooks resume`.',
  access: 'write',
  run: async ({ io, options, id, webhooks }) => {
    const isChange = await webhooks.pause(id);
    printJSONResult(io, options, { id, state: 'paused' });
    const state = isChange ? `Paused ${id}. Changes made from now on` : `${id} is paused already. Its changes`;
    io.stderr(`${state} are sent after \`webhooks resume\`.\n`);
    return 0;
  },
});

export const resumeWebhookCommand = webhookCommand({
  name: 'webhooks resume',
  summary: 'Resume a paused webhook from where it stopped',
  description: 'Also resumes a webhook that the service has paused.',
  access: 'write',
  run: async ({ io, options, id, webhooks }) => {
    const isChange = await webhooks.resume(id);
    printJSONResult(io, options, { id, state: 'active' });
    io.stderr(isChange ? `Resumed ${id}.\n` : `${id} is active already.\n`);
    return 0;
  },
});

export const rotateWebhookCommand = webhookCommand({
  name: 'webhooks rotate',
  summary: 'Replace the signing secret of a webhook and print the new one once',
  description: 'Messages are signed with both secrets during the overlap period.',
  options: {
    overlap: {
      value: '24h',
      description: 'How long the old secret also signs, at most 365d; 0 stops it immediately (default 24h)',
    },
  },
  examples: ['keyfront webhooks rotate hook_4be1c2a09f7d3356 --overlap 7d'],
  access: 'write',
  run: async ({ io, options, id, webhooks }) => {
    const overlapMs = parseSecretOverlap(options);
    const { secret, until, released } = await webhooks.rotate(id, overlapMs);
    // Printed before anything can fail: the secret is stored and cannot be shown again.
    io.stderr(`Rotated the secret of ${id}. Save this secret now; it is not shown again:\n`);
    printSecret(io, options, { id, secret });
    await released();
    const state = until === undefined ? 'no longer signs' : `also signs until ${until.toISOString()}`;
    io.stderr(`The old secret ${state}.\n`);
    return 0;
  },
});

export const removeWebhookCommand = webhookCommand({
  name: 'webhooks remove',
  summary: 'Remove a webhook with its pending events and dead letters',
  options: { yes: yesOption },
  access: 'write',
  run: async ({ io, options, id, webhooks }) => {
    const question = async () => {
      const { name, deadLetters } = await findShown(webhooks, id);
      return `Remove ${name}, with its pending events and ${deadLetters}? They are not sent any more.`;
    };
    if (!(await confirm(io, options, question))) return notConfirmedExitCode;
    await webhooks.remove(id);
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
  run: async ({ io, options, id, webhooks }) => {
    const format = selectOutputFormat(io, options);
    const letters = await webhooks.deadLetters(id, maxListed);
    if (letters.length === 0) {
      io.stderr(noneOf(undefined));
      return 0;
    }
    if (format.isJSON) {
      for (const { eventID, keyHash, version, failedAt, attempts, lastError, isReplayed } of letters) {
        const letter = { event: eventID, key_hash: keyHash, version, given_up: failedAt?.toISOString(), attempts };
        io.stdout(`${toJSONLine({ ...letter, why: lastError, ...(isReplayed && { replayed: true }) })}\n`);
      }
      return 0;
    }
    const rows = letters.map(({ eventID, keyHash, version, failedAt, attempts, lastError, isReplayed }) => [
      eventID,
      keyHash,
      String(version),
      failedAt?.toISOString() ?? '',
      String(attempts),
      `${printable(lastError)}${isReplayed ? ' (queued for replay)' : ''}`,
    ]);
    io.stdout(formatTable([deadLetterHeadings, ...rows]));
    return 0;
  },
});

/** Says that there are no dead letters, or not the one with this identifier. */
const noneOf = (eventID: string | undefined) =>
  eventID === undefined ? 'There are no dead letters.\n' : `There is no dead letter ${printable(eventID)}.\n`;

const deadLetterHeadings = ['EVENT', 'KEY HASH', 'VERSION', 'GIVEN UP', 'ATTEMPTS', 'WHY'];

export const replayDeadLettersCommand = webhookCommand({
  name: 'webhooks replay',
  summary: 'Queue dead letters for another delivery',
  description: 'Events keep their IDs. They may arrive after newer events.',
  options: { event: eventOption },
  exitCodes: deadLetterExitCodes,
  access: 'write',
  run: async ({ io, options, id, webhooks }) => {
    const eventID = stringOption(options, 'event');
    const { count, isPaused } = await webhooks.replay(id, eventID);
    const when = isPaused ? '; they are sent after `webhooks resume`' : '';
    printJSONResult(io, options, { id, queued: count });
    io.stderr(count > 0 ? `Queued dead letters: ${count}${when}.\n` : noneOf(eventID));
    return count > 0 ? 0 : 1;
  },
});

export const discardDeadLettersCommand = webhookCommand({
  name: 'webhooks discard',
  summary: 'Delete dead letters',
  options: { event: eventOption, yes: yesOption },
  exitCodes: deadLetterExitCodes,
  access: 'write',
  run: async ({ io, options, id, webhooks }) => {
    const eventID = stringOption(options, 'event');
    const question = async () => {
      const { name, deadLetters } = await findShown(webhooks, id);
      const letters = eventID === undefined ? deadLetters : `the dead letter ${printable(eventID)}`;
      return `Delete ${letters} of ${name}? The receiver never gets these changes.`;
    };
    if (!(await confirm(io, options, question))) return notConfirmedExitCode;
    const count = await webhooks.discard(id, eventID);
    printJSONResult(io, options, { id, deleted: count });
    io.stderr(count > 0 ? `Deleted dead letters: ${count}.\n` : noneOf(eventID));
    return count > 0 ? 0 : 1;
  },
});
