import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { stringOption } from '../../key-client/run-key-command.js';
import { jsonOption, printJSONResult } from '../../output/format.js';
import { deadLetterExitCodes, eventOption, findWebhook } from './find-webhook.js';

export const replayDeadLettersCommand: CLICommand = {
  name: 'webhooks replay',
  summary: 'Queue dead letters for another delivery',
  description: 'Events keep their IDs. They may arrive after newer events.',
  arguments: ['ID'],
  options: { event: eventOption, json: jsonOption },
  exitCodes: deadLetterExitCodes,
  examples: ['keyfront webhooks replay hook_4be1c2a09f7d3356'],
  environment: storageVariables,
  run: replay,
};

async function replay(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return withServices(io, { access: 'write' }, async (services) => {
    const { paused } = await findWebhook(services, id);
    const selected = { webhookID: id, eventID: stringOption(options, 'event') };
    // The delivery worker compares due times with the clock of the machine.
    const count = await services.webhooks.replay(selected, Date.now());
    const when = paused ? '; they are sent after `webhooks resume`' : '';
    printJSONResult(io, options, { id, queued: count });
    io.stderr(count > 0 ? `Queued dead letters: ${count}${when}.\n` : 'There is no such dead letter.\n');
    return count > 0 ? 0 : 1;
  });
}
