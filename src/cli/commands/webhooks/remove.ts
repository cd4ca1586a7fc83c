import { untilReleased, webhookNotFound } from '../../../webhooks/manage.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { webhookExitCodes } from './find-webhook.js';

export const removeWebhookCommand: CLICommand = {
  name: 'webhooks remove',
  summary: 'Remove a webhook with its pending events and dead letters',
  arguments: ['ID'],
  exitCodes: webhookExitCodes,
  examples: ['keyfront webhooks remove hook_4be1c2a09f7d3356'],
  environment: storageVariables,
  run: remove,
};

async function remove(io: IO, _options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return withServices(io, { access: 'write' }, async ({ webhooks }) => {
    if (!(await webhooks.remove(id))) throw webhookNotFound(id);
    await untilReleased(webhooks, id);
    io.stderr(`Removed ${id} with its pending events.\n`);
    return 0;
  });
}
