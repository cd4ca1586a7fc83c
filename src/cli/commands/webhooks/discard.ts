import { untilReleased } from '../../../webhooks/manage.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import { confirm, notConfirmedExitCode, yesOption } from '../../input/confirm.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { stringOption } from '../../key-client/run-key-command.js';
import { jsonOption, printJSONResult } from '../../output/format.js';
import { deadLetterExitCodes, eventOption, findWebhook } from './find-webhook.js';

export const discardDeadLettersCommand: CLICommand = {
  name: 'webhooks discard',
  summary: 'Delete dead letters',
  arguments: ['ID'],
  options: { event: eventOption, yes: yesOption, json: jsonOption },
  exitCodes: deadLetterExitCodes,
  examples: ['keyfront webhooks discard hook_4be1c2a09f7d3356'],
  environment: storageVariables,
  run: discard,
};

async function discard(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  if (!(await confirm(io, options, `Delete dead letters of ${id}?`))) return notConfirmedExitCode;
  return withServices(io, { access: 'write' }, async (services) => {
    await findWebhook(services, id);
    const count = await services.webhooks.discard({ webhookID: id, eventID: stringOption(options, 'event') });
    await untilReleased(services.webhooks, id);
    printJSONResult(io, options, { id, deleted: count });
    io.stderr(count > 0 ? `Deleted dead letters: ${count}.\n` : 'There is no such dead letter.\n');
    return count > 0 ? 0 : 1;
  });
}
