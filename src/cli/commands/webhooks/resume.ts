import { changeWebhook } from '../../../webhooks/manage.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { jsonOption, printJSONResult } from '../../output/format.js';
import { webhookExitCodes } from './find-webhook.js';

export const resumeWebhookCommand: CLICommand = {
  name: 'webhooks resume',
  summary: 'Resume a paused webhook from where it stopped',
  description: 'Also resumes a webhook that the service has paused.',
  arguments: ['ID'],
  options: { json: jsonOption },
  exitCodes: webhookExitCodes,
  examples: ['keyfront webhooks resume hook_4be1c2a09f7d3356'],
  environment: storageVariables,
  run: resume,
};

async function resume(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return withServices(io, { access: 'write' }, async ({ webhooks }) => {
    await changeWebhook(webhooks, id, (webhook) => ({ ...webhook, paused: undefined }));
    printJSONResult(io, options, { id, state: 'active' });
    io.stderr(`Resumed ${id}.\n`);
    return 0;
  });
}
