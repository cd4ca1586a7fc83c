import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import { confirm, notConfirmedExitCode, yesOption } from '../../input/confirm.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { jsonOption, printJSONResult } from '../../output/format.js';

export const revokeCommand: CLICommand = {
  name: 'credentials revoke',
  summary: 'Revoke a credential',
  description: 'Running services reject it from the next request on.',
  arguments: ['ID'],
  options: { yes: yesOption, json: jsonOption },
  exitCodes: { 1: 'there is no such credential' },
  examples: ['keyfront credentials revoke cred_2e1c90b7d64f8a13'],
  environment: storageVariables,
  run: revoke,
};

async function revoke(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  if (!(await confirm(io, options, `Revoke ${id}?`))) return notConfirmedExitCode;
  return withServices(io, { access: 'write' }, async ({ credentials, now }) => {
    const isRevoked = await credentials.revoke(id, now());
    printJSONResult(io, options, { id, revoked: isRevoked });
    io.stderr(
      isRevoked ? `Revoked ${id}. Running services reject it from now on.\n` : `There is no credential ${id}.\n`,
    );
    return isRevoked ? 0 : 1;
  });
}
