import { rotateWebhook, untilReleased } from '../../../webhooks/manage.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import { parseOverlap } from '../../input/duration.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { toJSONLine } from '../../output/json.js';
import { webhookExitCodes } from './find-webhook.js';

export const rotateWebhookCommand: CLICommand = {
  name: 'webhooks rotate',
  summary: 'Replace the signing secret of a webhook and print the new one once',
  description: 'Messages are signed with both secrets during the overlap period.',
  arguments: ['ID'],
  options: {
    overlap: { value: '24h', description: 'How long the old secret also signs; 0 stops it immediately (default 24h)' },
    json: { description: 'Print the id and the secret as JSON', isCommon: true },
  },
  exitCodes: webhookExitCodes,
  examples: ['keyfront webhooks rotate hook_4be1c2a09f7d3356 --overlap 7d'],
  environment: storageVariables,
  run: rotate,
};

async function rotate(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  const overlapMs = parseOverlap(options);
  return withServices(io, { access: 'write' }, async (services) => {
    const { secret, until } = await rotateWebhook(services, id, overlapMs);
    // Printed before anything can fail: the secret is stored and cannot be shown again.
    io.stderr(`Rotated the secret of ${id}. Save this secret now; it is not shown again:\n`);
    io.stdout(`${options['json'] === true ? toJSONLine({ id, secret }) : secret}\n`);
    await untilReleased(services.webhooks, id);
    const state = overlapMs === 0 ? 'no longer signs' : `also signs until ${until.toISOString()}`;
    io.stderr(`The old secret ${state}.\n`);
    return 0;
  });
}
