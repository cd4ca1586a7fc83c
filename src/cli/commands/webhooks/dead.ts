import { printable } from '../../../lib/text.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { outputOptions, selectOutputFormat } from '../../output/format.js';
import { toJSONLine } from '../../output/json.js';
import { formatTable } from '../../output/table.js';
import { findWebhook, webhookExitCodes } from './find-webhook.js';

const maxListed = 1_000;

export const listDeadLettersCommand: CLICommand = {
  name: 'webhooks dead',
  summary: 'List the dead letters of a webhook, oldest first',
  description: `A dead letter is an event whose delivery failed permanently. Prints a table on a terminal, otherwise one line of JSON per event; at most ${maxListed.toLocaleString('en')} events.`,
  arguments: ['ID'],
  options: outputOptions,
  exitCodes: webhookExitCodes,
  examples: ['keyfront webhooks dead hook_4be1c2a09f7d3356'],
  environment: storageVariables,
  run: listDeadLetters,
};

const headings = ['EVENT', 'KEY HASH', 'VERSION', 'GIVEN UP', 'ATTEMPTS', 'WHY'];

async function listDeadLetters(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  const format = selectOutputFormat(io, options);
  return withServices(io, { access: 'read' }, async (services) => {
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
    io.stdout(formatTable([headings, ...rows]));
    return 0;
  });
}
