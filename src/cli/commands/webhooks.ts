import { AppError } from '../../lib/errors.js';
import type { Services } from '../../storage/open-storage.js';
import { printable } from '../../lib/text.js';
import { type DeliveryStats, type Webhook, webhookAAD } from '../../webhooks/webhook.js';
import { addWebhook, changeWebhook, webhookNotFound, rotateWebhook, untilReleased } from '../../webhooks/manage.js';
import { pingMessage } from '../../webhooks/event.js';
import { createSignedSender } from '../../webhooks/sign-and-send.js';
import { parseReceiverURL, RejectedAddressError, redactedURL } from '../../webhooks/address-policy.js';
import type { OptionValues } from '../command.js';
import { parseOverlap } from './credentials.js';
import { damagedExitCode } from './damaged-keys.js';
import { UsageError, type IO } from '../io.js';
import { toJSONLine } from '../output/json.js';
import { withServices } from '../key-client/open.js';
import { parseOrganisation } from '../input/organisation.js';
import { formatTable } from '../output/table.js';
import { selectOutputFormat } from '../output/format.js';
import { stringOption } from '../key-client/run-key-command.js';

const mostShown = 1_000;

/** Prints the secret alone on standard output, so that a script can take it; the rest is for people. */
export async function addOne(io: IO, values: OptionValues): Promise<number> {
  const orgID = parseOrganisation(values['org']);
  const label = stringOption(values, 'label') ?? '';
  const text = stringOption(values, 'url') === '-' ? await pipedLine(io) : (stringOption(values, 'url') ?? '');
  return withServices(io, { access: 'write' }, async (installation, { config }) => {
    const url = usable(() => parseReceiverURL(text, config.webhooksTo));
    const { webhook, secret } = await addWebhook(installation, { url, label, orgID });
    io.stderr(`Added ${webhook.id}. It receives every change from now on. Its secret is shown once:\n`);
    io.stdout(`${secret}\n`);
    return 0;
  });
}

/** Prints the new secret alone on standard output, as `add` does. */
export async function rotateSecret(io: IO, values: OptionValues, [id = '']: readonly string[]): Promise<number> {
  const overlapMs = parseOverlap(values);
  return withServices(io, { access: 'write' }, async (installation) => {
    const { secret, until } = await rotateWebhook(installation, id, overlapMs);
    // Before anything can fail: it is stored, and cannot be shown again.
    io.stderr(`${id} has a new secret, shown only now:\n`);
    io.stdout(`${secret}\n`);
    await untilReleased(installation.webhooks, id);
    const end = overlapMs === 0 ? 'no longer signs' : `also signs until ${until.toISOString()}`;
    io.stderr(`The old secret ${end}.\n`);
    return 0;
  });
}

const headings = ['ID', 'STATE', 'FAILING KEYS', 'DEAD', 'ORGANISATION', 'CREATED', 'RECEIVER', 'LABEL'];

export async function listAll(io: IO, values: OptionValues): Promise<number> {
  const view = selectOutputFormat(io, values);
  return withServices(io, { access: 'read' }, async ({ webhooks, sealer }) => {
    const standings = new Map((await webhooks.deliveryStats()).map((standing) => [standing.webhookID, standing]));
    const all = (await webhooks.list()).map((webhook) => {
      const url = new URL(sealer.open(webhook.sealedURL, webhookAAD(webhook.id, 'url')));
      return { webhook, receiver: redactedURL(url), standing: standings.get(webhook.id) };
    });
    if (view.isJSON) for (const one of all) io.stdout(`${toJSONLine(memberOf(one))}\n`);
    else io.stdout(formatTable([headings, ...all.map(rowOf)]));
    const damaged = await webhooks.damaged();
    for (const id of damaged) io.stderr(`Skipped: ${damagedWebhook(id)}\n`);
    return damaged.length > 0 ? damagedExitCode : 0;
  });
}

interface Listed {
  readonly webhook: Webhook;
  readonly receiver: string;
  readonly standing: DeliveryStats | undefined;
}

function memberOf({ webhook, receiver, standing }: Listed): object {
  const { id, label, orgID, created, paused } = webhook;
  return {
    id,
    label,
    ...(orgID !== undefined && { org_id: orgID }),
    receiver,
    created: created.toISOString(),
    ...(paused && { paused: paused.at.toISOString(), paused_why: paused.why }),
    failing_keys: standing?.retryingKeys ?? 0,
    dead_letters: standing?.deadLetters ?? 0,
  };
}

function rowOf({ webhook, receiver, standing }: Listed): string[] {
  const { id, label, orgID, created, paused } = webhook;
  return [
    id,
    paused ? `paused: ${printable(paused.why)}` : 'active',
    String(standing?.retryingKeys ?? 0),
    String(standing?.deadLetters ?? 0),
    printable(orgID ?? '(all)'),
    created.toISOString(),
    printable(receiver),
    printable(label),
  ];
}

export async function removeOne(io: IO, _values: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return withServices(io, { access: 'write' }, async ({ webhooks }) => {
    if (!(await webhooks.remove(id))) throw webhookNotFound(id);
    await untilReleased(webhooks, id);
    io.stderr(`Removed ${id}, with the events that waited for it.\n`);
    return 0;
  });
}

export async function pauseOne(io: IO, _values: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return withServices(io, { access: 'write' }, async ({ webhooks, now }) => {
    const paused = { at: now(), why: 'by the command line' };
    await changeWebhook(webhooks, id, (found) => (found.paused ? found : { ...found, paused }));
    io.stderr(`Paused ${id}. Changes made from now on are sent after \`webhooks resume\`.\n`);
    return 0;
  });
}

export async function resumeOne(io: IO, _values: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return withServices(io, { access: 'write' }, async ({ webhooks }) => {
    await changeWebhook(webhooks, id, (found) => ({ ...found, paused: undefined }));
    io.stderr(`Resumed ${id}.\n`);
    return 0;
  });
}

const pingWithinMs = 10_000;

/** Sends a ping at once, whatever else the webhook waits for. */
export async function testOne(io: IO, _values: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return withServices(io, { access: 'read' }, async (installation, { config }) => {
    const webhook = await find(installation, id);
    const post = createSignedSender(webhook, {
      allowed: config.webhooksTo,
      timeoutMs: pingWithinMs,
      clockMs: () => installation.now().getTime(),
      open: (sealed, place) => installation.sealer.open(sealed, place),
    });
    try {
      const outcome = await post(pingMessage(id, installation.now()), {
        abort: new AbortController().signal,
        maySend: () => true,
      });
      const isGood = 'status' in outcome && outcome.status >= 200 && outcome.status < 300;
      io.stderr(
        'status' in outcome ? `The receiver returned ${outcome.status}.\n` : `No response: ${outcome.error}.\n`,
      );
      return isGood ? 0 : 1;
    } finally {
      post.close();
    }
  });
}

const deadHeadings = ['EVENT', 'KEY HASH', 'VERSION', 'GIVEN UP', 'ATTEMPTS', 'WHY'];

export async function listDead(io: IO, values: OptionValues, [id = '']: readonly string[]): Promise<number> {
  const view = selectOutputFormat(io, values);
  return withServices(io, { access: 'read' }, async (installation) => {
    await find(installation, id);
    const letters = await installation.webhooks.deadLetters({ webhookID: id }, mostShown);
    if (view.isJSON) {
      for (const { eventID, keyHash, version, diedAt: died, attempts, lastError: why, dueMs } of letters) {
        const isReplayed = dueMs !== undefined && { replayed: true };
        const letter = { event: eventID, key_hash: keyHash, version, given_up: died.toISOString(), attempts, why };
        io.stdout(`${toJSONLine({ ...letter, ...isReplayed })}\n`);
      }
      return 0;
    }
    const rows = letters.map(({ eventID, keyHash, version, diedAt: died, attempts, lastError: why, dueMs }) => [
      eventID,
      keyHash,
      String(version),
      died.toISOString(),
      String(attempts),
      `${printable(why)}${dueMs === undefined ? '' : ' (is sent again)'}`,
    ]);
    io.stdout(formatTable([deadHeadings, ...rows]));
    return 0;
  });
}

/** Has one dead letter, or all of a webhook, sent again by the service, with their own identifiers. */
export async function replayDead(io: IO, values: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return withServices(io, { access: 'write' }, async (installation) => {
    const { paused } = await find(installation, id);
    // The service goes by the clock of the machine, and so does what is due.
    const count = await installation.webhooks.replay(
      { webhookID: id, eventID: stringOption(values, 'event') },
      Date.now(),
    );
    const when = paused ? ' once it is resumed' : '';
    io.stderr(count > 0 ? `${count} dead letters are sent again${when}.\n` : 'There is no such dead letter.\n');
    return count > 0 ? 0 : 1;
  });
}

export async function discardDead(io: IO, values: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return withServices(io, { access: 'write' }, async (installation) => {
    await find(installation, id);
    const count = await installation.webhooks.discard({ webhookID: id, eventID: stringOption(values, 'event') });
    await untilReleased(installation.webhooks, id);
    io.stderr(count > 0 ? `${count} dead letters are gone.\n` : 'There is no such dead letter.\n');
    return count > 0 ? 0 : 1;
  });
}

async function find({ webhooks }: Services, id: string): Promise<Webhook> {
  const found = (await webhooks.list()).find((webhook) => webhook.id === id);
  if (found) return found;
  throw (await webhooks.damaged()).includes(id) ? new Error(damagedWebhook(id)) : webhookNotFound(id);
}

function damagedWebhook(id: string): string {
  return `The row of the webhook ${printable(id)} fails the integrity check. Remove it with \`keyfront webhooks remove ID\`.`;
}

/** What is wrong with a URL is for whoever typed it. */
function usable(read: () => URL): URL {
  try {
    return read();
  } catch (error) {
    if (error instanceof RejectedAddressError) throw new UsageError(`The URL cannot be used: ${error.message}.`);
    throw error;
  }
}

const mostPiped = 4_000;

async function pipedLine({ stdin: input }: IO): Promise<string> {
  let text = '';
  for await (const chunk of input ?? []) {
    text += Buffer.from(chunk).toString('utf8');
    if (text.length > mostPiped) throw new AppError('TOO_LARGE', 'What is piped in is no URL.');
  }
  return text.trim();
}
