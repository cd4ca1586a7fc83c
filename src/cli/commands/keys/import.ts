import { stat } from 'node:fs/promises';
import type { KeyStore } from '../../../keys/ports.js';
import { printable } from '../../../lib/text.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import { actorLabel, actorOption } from '../../input/actor.js';
import { readBytes } from '../../input/definitions.js';
import { importLines, type ImportStore } from '../../input/import-lines.js';
import { splitLines } from '../../input/jsonl.js';
import { parseOrganisation } from '../../input/organisation.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { createProgressLine } from '../../output/progress.js';

export const importCommand: CLICommand = {
  name: 'keys import',
  summary: 'Import keys from a JSON Lines file',
  description:
    'Each line is `{"key_id": "...", ...definition}` with the field names of REST; `-` reads standard input. Invalid lines are reported by number and skipped, existing keys are left unchanged, and every key needs an owner.',
  arguments: ['FILE.jsonl'],
  options: {
    org: { value: 'ID', description: 'Owner of the keys whose line has no org_id' },
    'dry-run': { description: 'Report what would be imported, and store nothing' },
    actor: actorOption,
    'passwords-are-hashed': { description: 'Passwords in the file are bcrypt or argon2id hashes; store them as is' },
  },
  exitCodes: { 1: 'some lines were rejected; the others are imported' },
  examples: ['keyfront keys import keys.jsonl --org acme', 'zcat keys.jsonl.gz | keyfront keys import - --dry-run'],
  environment: storageVariables,
  run: importKeys,
};

async function importKeys(io: IO, options: OptionValues, [file = '']: readonly string[]): Promise<number> {
  const importOptions = {
    orgID: parseOrganisation(options['org']),
    passwordsAreHashed: options['passwords-are-hashed'] === true,
    actorLabel: actorLabel(io, 'keys import', options),
  };
  const isDryRun = options['dry-run'] === true;
  const size = await sizeOf(file);
  return withServices(io, { access: isDryRun ? 'read' : 'create' }, async ({ ports, store }) => {
    const progress = createProgressLine(io, 'lines');
    let bytesRead = 0;
    const bytes = countBytes(readBytes(io, file), (count) => (bytesRead += count));
    const target = { ports, store: isDryRun ? createDryRunStore(store) : store };
    const counts = await importLines(target, splitLines(bytes), importOptions, {
      onInvalidLine: (line, reason) => {
        progress.end();
        io.stderr(`line ${line}: ${printable(reason)}\n`);
      },
      onProgress: (lines) => progress.show(lines, size === undefined ? undefined : Math.min(bytesRead / size, 1)),
    });
    progress.end();
    const prefix = isDryRun ? 'Dry run, nothing was stored: ' : '';
    const verb = isDryRun ? 'would be imported' : 'imported';
    io.stderr(
      `${prefix}${counts.imported} ${verb}, ${counts.existing} skipped (already exist), ${counts.invalid} rejected.\n`,
    );
    return counts.invalid === 0 ? 0 : 1;
  });
}

/** The size of a file in bytes; undefined if it is not known in advance. */
async function sizeOf(file: string): Promise<number | undefined> {
  const found = file === '-' ? undefined : await stat(file).catch(() => undefined);
  return found && found.size > 0 ? found.size : undefined;
}

async function* countBytes(
  chunks: AsyncIterable<Uint8Array>,
  onRead: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    onRead(chunk.length);
    yield chunk;
  }
}

/** Reports which keys would be added, and writes nothing. */
function createDryRunStore(store: Pick<KeyStore, 'findMany'>): ImportStore {
  const seen = new Set<string>();
  return {
    add: async (keys) => {
      const found = await store.findMany(keys.map(({ next }) => next.keyHash));
      for (const { keyHash } of found) seen.add(keyHash);
      return keys.map(({ next: { keyHash } }) => {
        const isNew = !seen.has(keyHash);
        seen.add(keyHash);
        return isNew;
      });
    },
  };
}
