import { resolve } from 'node:path';
import type { CLICommand, OptionValues } from '../command.js';
import { storageVariables } from '../environment.js';
import type { IO } from '../io.js';
import { withServices } from '../key-client/open.js';
import { toJSONLine } from '../output/json.js';
import { issueFirstCredentials } from '../server/first-start.js';

export const initCommand: CLICommand = {
  name: 'init',
  summary: 'Create an installation: data folder, key ring and first credentials',
  description:
    'Starts no service. Prints a management and a service credential once; with NODE_ENV=production, writes them to a file that only this user can read. Without this command, the first `serve` does the same.',
  options: { json: { description: 'Print the paths and the credentials as JSON', isCommon: true } },
  exitCodes: { 1: 'the installation exists already, or cannot be created' },
  examples: ['NODE_ENV=production KEYFRONT_DATA=/var/lib/keyfront keyfront init'],
  environment: [...storageVariables, 'NODE_ENV'],
  run: init,
};

async function init(io: IO, { json: isJSON }: OptionValues): Promise<number> {
  return withServices(io, { access: 'create' }, async (services, { config, secrets }) => {
    if (!(await services.isNew())) {
      io.stderr('The installation exists already. `keyfront credentials issue` issues another credential.\n');
      return 1;
    }
    const first = await issueFirstCredentials(services, config);
    const keyRing = resolve(config.keyRingFile);
    const database = secrets.databaseURL === undefined ? resolve(config.databaseFile) : 'that of KEYFRONT_DATABASE_URL';
    io.stderr(
      `Created an installation.\n  database  ${database}\n  key ring  ${keyRing}\nBack up the key ring separately: without it, no backup can be decrypted. Start the service with \`keyfront serve\`.\n`,
    );
    if ('file' in first) io.stderr(`The first credentials are in ${first.file}. Save them, and delete the file.\n`);
    else io.stderr('Save these two credentials now; they are not shown again:\n');
    if (isJSON === true) {
      const paths = { ...(secrets.databaseURL === undefined && { database }), key_ring: keyRing };
      io.stdout(`${toJSONLine({ ...paths, ...('file' in first ? { credentials_file: first.file } : first) })}\n`);
    } else if (!('file' in first)) {
      io.stdout(`management ${first.management}\nservice ${first.service}\n`);
    }
    return 0;
  });
}
