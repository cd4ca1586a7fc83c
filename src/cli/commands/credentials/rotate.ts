import { rotateCredential } from '../../../credentials/issue.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import { parseOverlap } from '../../input/duration.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { toJSONLine } from '../../output/json.js';

export const rotateCredentialCommand: CLICommand = {
  name: 'credentials rotate',
  summary: 'Issue a replacement credential and print its secret once',
  description: 'The old credential stays valid for the overlap period.',
  arguments: ['ID'],
  options: {
    overlap: {
      value: '24h',
      description: 'How long the old credential stays valid; 0 revokes it immediately (default 24h)',
    },
    json: { description: 'Print the id and the secret as JSON', isCommon: true },
  },
  examples: ['keyfront credentials rotate cred_2e1c90b7d64f8a13 --overlap 7d'],
  environment: storageVariables,
  run: rotate,
};

async function rotate(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  const overlapMs = parseOverlap(options);
  return withServices(io, { access: 'write' }, async ({ credentials, now }) => {
    const { credential, secret, retired } = await rotateCredential(credentials, id, overlapMs, now());
    const state = retired.revoked ? 'is revoked' : `stays valid until ${retired.expires?.toISOString()}`;
    io.stderr(`Issued ${credential.id}; ${id} ${state}. Save this secret now; it is not shown again:\n`);
    io.stdout(`${options['json'] === true ? toJSONLine({ id: credential.id, secret }) : secret}\n`);
    return 0;
  });
}
