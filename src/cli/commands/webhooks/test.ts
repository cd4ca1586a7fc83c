import { pingMessage } from '../../../webhooks/event.js';
import { createWebhookClient } from '../../../webhooks/http-client.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { jsonOption, printJSONResult } from '../../output/format.js';
import { findWebhook } from './find-webhook.js';

export const testWebhookCommand: CLICommand = {
  name: 'webhooks test',
  summary: 'Send a signed ping to a webhook and print the status of the response',
  description: 'The ping is sent at once, before events that are pending.',
  arguments: ['ID'],
  options: { json: jsonOption },
  exitCodes: { 1: 'there is no such webhook, or its response was not 2xx' },
  examples: ['keyfront webhooks test hook_4be1c2a09f7d3356'],
  environment: [...storageVariables, 'KEYFRONT_WEBHOOKS_TO', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS'],
  run: test,
};

const pingTimeoutMs = 10_000;

async function test(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return withServices(io, { access: 'read' }, async (services, { config }) => {
    const webhook = await findWebhook(services, id);
    const client = createWebhookClient(webhook, {
      allowed: config.webhooksTo,
      timeoutMs: pingTimeoutMs,
      sealer: services.sealer,
    });
    try {
      const control = { abort: new AbortController().signal, maySend: () => true };
      const { status, isDelivered, description } = await client.send(pingMessage(id, services.now()), control);
      const hasResponse = status > 0;
      printJSONResult(io, options, hasResponse ? { id, status } : { id, error: description });
      io.stderr(hasResponse ? `The receiver returned ${status}.\n` : `No response: ${description}.\n`);
      return isDelivered ? 0 : 1;
    } finally {
      client.close();
    }
  });
}
