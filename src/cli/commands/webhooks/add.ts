import { AppError } from '../../../lib/errors.js';
import { parseReceiverURL, RejectedAddressError } from '../../../webhooks/address-policy.js';
import { addWebhook } from '../../../webhooks/manage.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import { parseOrgIDOption } from '../../input/organisation.js';
import { UsageError, type IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { stringOption } from '../../key-client/run-key-command.js';
import { toJSONLine } from '../../output/json.js';

export const addWebhookCommand: CLICommand = {
  name: 'webhooks add',
  summary: 'Add a webhook that receives signed key changes, and print its signing secret once',
  description:
    'Standard output contains only the secret, in the format of Standard Webhooks (whsec_…). KEYFRONT_WEBHOOKS_TO selects which addresses a receiver may have.',
  options: {
    url: { value: 'URL', description: 'Address of the receiver; `-` reads it from standard input', isRequired: true },
    org: { value: 'ID', description: 'Send only changes of keys of this organisation (default: all organisations)' },
    label: { value: 'TEXT', description: 'Name shown in lists' },
    json: { description: 'Print the id and the secret as JSON', isCommon: true },
  },
  examples: ['keyfront webhooks add --url https://hooks.example.com/keys --org acme --label "billing"'],
  environment: [...storageVariables, 'KEYFRONT_WEBHOOKS_TO', 'NODE_ENV'],
  run: add,
};

async function add(io: IO, options: OptionValues): Promise<number> {
  const orgID = parseOrgIDOption(options['org']);
  const label = stringOption(options, 'label') ?? '';
  const address = stringOption(options, 'url') ?? '';
  const urlText = address === '-' ? await readURL(io) : address;
  return withServices(io, { access: 'write' }, async (services, { config }) => {
    const url = withUsageErrors(() => parseReceiverURL(urlText, config.webhooksTo));
    const { webhook, secret } = await addWebhook(services, { url, label, orgID });
    io.stderr(
      `Added ${webhook.id}. It receives every change from now on. Save this secret now; it is not shown again:\n`,
    );
    io.stdout(`${options['json'] === true ? toJSONLine({ id: webhook.id, secret }) : secret}\n`);
    return 0;
  });
}

/** Turns a rejected address into a usage error: its message is for the person who typed the URL. */
function withUsageErrors(parse: () => URL): URL {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RejectedAddressError) throw new UsageError(`Invalid URL: ${error.message}.`);
    throw error;
  }
}

const maxURLLength = 4_000;

async function readURL({ stdin }: IO): Promise<string> {
  let text = '';
  for await (const chunk of stdin ?? []) {
    text += Buffer.from(chunk).toString('utf8');
    if (text.length > maxURLLength) {
      throw new AppError('TOO_LARGE', `The URL on standard input exceeds ${maxURLLength} characters.`);
    }
  }
  return text.trim();
}
