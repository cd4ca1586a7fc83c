import { withWireIssuePaths } from '../../../rest/json-body.js';
import { definitionFromWire } from '../../../wire/field-names.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { keyVariables } from '../../environment.js';
import { actorOption } from '../../input/actor.js';
import { readDefinitionObject } from '../../input/definitions.js';
import { parseOrgIDOption } from '../../input/organisation.js';
import type { IO } from '../../io.js';
import { changeExitCodes, definitionFile, keysOptions, reasonOption } from '../../key-client/options.js';
import { runKeysCommand, stringOption } from '../../key-client/run-key-command.js';
import { changeResultToJSON, formatWarnings } from '../../output/diff.js';
import { toJSONLine } from '../../output/json.js';

export const createCommand: CLICommand = {
  name: 'create',
  summary: 'Create a key with a generated identifier, and print the identifier',
  description: `The recommended way to create keys: the identifier ends in 32 random hex digits and cannot be guessed. \`put --create\` creates a key with an identifier of your own. As text, standard output contains only the identifier. ${definitionFile}`,
  arguments: ['FILE'],
  options: {
    prefix: {
      value: 'TEXT',
      description: 'Readable beginning of the identifier, such as acme_live_ (default: the organisation)',
    },
    org: { value: 'ID', description: 'Owner of the key if FILE has no org_id' },
    reason: reasonOption,
    actor: actorOption,
    ...keysOptions,
  },
  exitCodes: changeExitCodes,
  examples: ['keyfront create billing.json --prefix acme_live_ --reason "new customer"'],
  environment: keyVariables,
  run: create,
  errorExitCode: 2,
};

async function create(io: IO, options: OptionValues, [file = '']: readonly string[]): Promise<number> {
  const orgID = parseOrgIDOption(options['org']);
  const createOptions = { keyIDPrefix: stringOption(options, 'prefix'), reason: stringOption(options, 'reason') };
  return runKeysCommand({ io, command: 'create', options }, async ({ keys, format }) => {
    const body = await readDefinitionObject(io, file);
    const definition = definitionFromWire({ ...(orgID !== undefined && { org_id: orgID }), ...Object(body) });
    const created = await withWireIssuePaths(body, () => keys.create(undefined, definition, createOptions));
    const { keyID: key } = created;
    if (format.isJSON) {
      io.stdout(`${toJSONLine({ action: 'added', key, ...changeResultToJSON(created, body) })}\n`);
    } else {
      io.stdout(`${key}\n`);
      io.stderr(`Created with the hash ${created.keyHash}.\n${formatWarnings(format, created, body)}`);
    }
    return 0;
  });
}
