import { open } from 'node:fs/promises';
import { printable } from '../../../lib/text.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import { importLines } from '../../input/import-lines.js';
import { splitLines } from '../../input/jsonl.js';
import { parseOrganisation } from '../../input/organisation.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { createProgressLine } from '../../output/progress.js';

export const importCommand: CLICommand = {
  name: 'keys import',
  summary: 'Import keys from a JSON Lines file',
  description:
    'Each line is `{"key_id": "...", ...definition}` with the field names of REST. Invalid lines are reported by number and skipped, existing keys are left unchanged, and every key needs an owner.',
  arguments: ['FILE.jsonl'],
  options: {
    org: { value: 'ID', description: 'Owner of the keys whose line has no org_id' },
    'passwords-are-hashed': { description: 'Passwords in the file are bcrypt or argon2id hashes; store them as is' },
  },
  exitCodes: { 1: 'some lines were rejected; the others are imported' },
  examples: ['keyfront keys import keys.jsonl --org acme'],
  environment: storageVariables,
  run: importKeys,
};

async function importKeys(io: IO, options: OptionValues, [file = '']: readonly string[]): Promise<number> {
  const importOptions = {
    orgID: parseOrganisation(options['org']),
    passwordsAreHashed: options['passwords-are-hashed'] === true,
  };
  return withServices(io, { access: 'create' }, async (services) => {
    const handle = await open(file).catch((cause: unknown) => {
      throw new Error(`Cannot read the file ${file}.`, { cause });
    });
    const progress = createProgressLine(io, 'lines');
    const bytes = handle.createReadStream();
    // 0 for a pipe, whose length is unknown.
    const { size } = await handle.stat();
    const counts = await importLines(services, splitLines(bytes), importOptions, {
      onInvalidLine: (line, reason) => {
        progress.end();
        io.stderr(`line ${line}: ${printable(reason)}\n`);
      },
      onProgress: (lines) => progress.show(lines, size > 0 ? bytes.bytesRead / size : undefined),
    });
    progress.end();
    io.stderr(`${counts.imported} imported, ${counts.existing} skipped (already exist), ${counts.invalid} rejected.\n`);
    return counts.invalid === 0 ? 0 : 1;
  });
}
