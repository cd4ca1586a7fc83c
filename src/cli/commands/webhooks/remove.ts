import { untilReleased, webhookNotFound } from '../../../webhooks/manage.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import { confirm, notConfirmedExitCode, yesOption } from '../../input/confirm.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { jsonOption, printJSONResult } from '../../output/format.js';
import { webhookExitCodes } from './find-webhook.js';

export const removeWebhookCommand: CLICommand = {
  name: 'webhooks remove',
  summary: 'Remove a webhook with its pending events and dead letters',
  arguments: ['ID'],
  options: { yes: yesOption, json: jsonOption },
  exitCodes: webhookExitCodes,
  examples: ['keyfront webhooks remove hook_4be1c2a09f7d3356'],
  environment: storageVariables,
  run: remove,
};

async function remove(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  const question = `Remove ${id} with its pending events and dead letters?`;
  if (!(await confirm(io, options, question))) return notConfirmedExitCode;
  return withServices(io, { access: 'write' }, async ({ webhooks }) => {
    if (!(await webhooks.remove(id))) throw webhookNotFound(id);
    await untilReleased(webhooks, id);
    printJSONResult(io, options, { id, removed: true });
    io.stderr(`Removed ${id} with its pending events.\n`);
    return 0;
  });
}
