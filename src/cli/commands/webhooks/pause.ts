import { changeWebhook } from '../../../webhooks/manage.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { jsonOption, printJSONResult } from '../../output/format.js';
import { webhookExitCodes } from './find-webhook.js';

export const pauseWebhookCommand: CLICommand = {
  name: 'webhooks pause',
  summary: 'Pause a webhook',
  description: 'Changes made during the pause are sent after `webhooks resume`.',
  arguments: ['ID'],
  options: { json: jsonOption },
  exitCodes: webhookExitCodes,
  examples: ['keyfront webhooks pause hook_4be1c2a09f7d3356'],
  environment: storageVariables,
  run: pause,
};

async function pause(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return withServices(io, { access: 'write' }, async ({ webhooks, now }) => {
    const paused = { at: now(), why: 'by the command line' };
    await changeWebhook(webhooks, id, (webhook) => (webhook.paused ? webhook : { ...webhook, paused }));
    printJSONResult(io, options, { id, state: 'paused' });
    io.stderr(`Paused ${id}. Changes made from now on are sent after \`webhooks resume\`.\n`);
    return 0;
  });
}
