import { printable } from '../../../lib/text.js';
import { redactedURL } from '../../../webhooks/address-policy.js';
import { webhookAAD, type DeliveryStats, type Webhook } from '../../../webhooks/webhook.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { outputOptions, selectOutputFormat } from '../../output/format.js';
import { toJSONLine } from '../../output/json.js';
import { formatTable } from '../../output/table.js';
import { damagedExitCode } from '../keys/damaged-keys.js';
import { damagedWebhookMessage } from './find-webhook.js';

export const listWebhooksCommand: CLICommand = {
  name: 'webhooks list',
  summary: 'List webhooks with their pending and dead-lettered events',
  description:
    'Prints a table on a terminal, otherwise one line of JSON per webhook. URLs are shortened to their origin; secrets are not shown.',
  options: outputOptions,
  exitCodes: { 3: 'done, except for damaged rows, which are named' },
  examples: ['keyfront webhooks list'],
  environment: storageVariables,
  run: list,
};

const headings = ['ID', 'STATE', 'FAILING KEYS', 'DEAD', 'ORGANISATION', 'CREATED', 'RECEIVER', 'LABEL'];

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
  const { id, label, orgID, created, paused } = webhook;
  return {
    id,
    label,
    ...(orgID !== undefined && { org_id: orgID }),
    receiver,
    created: created.toISOString(),
    ...(paused && { paused: paused.at.toISOString(), paused_why: paused.why }),
    failing_keys: stats?.retryingKeys ?? 0,
    dead_letters: stats?.deadLetters ?? 0,
  };
}

function toRow({ webhook, receiver, stats }: ListedWebhook): string[] {
  const { id, label, orgID, created, paused } = webhook;
  return [
    id,
    paused ? `paused: ${printable(paused.why)}` : 'active',
    String(stats?.retryingKeys ?? 0),
    String(stats?.deadLetters ?? 0),
    printable(orgID ?? '(all)'),
    created.toISOString(),
    printable(receiver),
    printable(label),
  ];
}
