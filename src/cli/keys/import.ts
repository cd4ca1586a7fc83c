import { constants, type Stats } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { readConfig } from '../../config/config.js';
import { foreignHashLengths } from '../../crypto/key-hash.js';
import { createKeyService, type KeyService } from '../../keys/key-service.js';
import type { KeyStore } from '../../keys/ports.js';
import { AppError, errorCodeOf } from '../../lib/errors.js';
import { explainSystemError } from '../../lib/system-error.js';
import { printable } from '../../lib/text.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import { rejectServiceURL, withServices } from '../client/open.js';
import { type CLICommand, type OptionValues } from '../command.js';
import { readBytes, splitLines } from '../definitions.js';
import type { Actor } from '../../keys/key.js';
import { actorOption, localActor, parseOrgIDOption } from '../input.js';
import { UsageError, type IO } from '../io.js';
import { createProgressLine, jsonOption, printJSONResult } from '../output.js';
import { importLines, type ImportCounts, type ImportOptions, type ImportTarget } from './import-lines.js';
import {
  convertSession,
  describeDifference,
  differences,
  type Difference,
  type DifferenceCode,
} from './tyk-session.js';

/** As shells report a process that Ctrl-C has ended. */
const stoppedExitCode = 130;

export const importCommand: CLICommand = {
  name: 'keys import',
  summary: 'Import keys from a JSON Lines file',
  description:
    'Each line is `{"key_id": "...", ...definition}` with the field names of REST, or has `key_hash` if nobody knows the identifier; `-` reads standard input. Invalid lines are reported by number and skipped, and so is a line with the identifier of an earlier line. Existing keys stay as they are without --update. Every key needs an owner. Ctrl-C or SIGTERM stores the lines that were read, and ends the import; the same command continues it. `keys preview --import` reports the same problems without a data folder.',
  arguments: ['FILE.jsonl'],
  options: {
    org: { value: 'ID', description: 'Owner of the keys whose line has no org_id' },
    update: {
      description: 'Replace the definitions of existing keys; their dates, and secrets that a line omits, stay',
    },
    json: jsonOption,
    'dry-run': { description: 'Report what would be imported, and store nothing' },
    actor: actorOption,
    from: { value: 'FORMAT', description: 'Read the sessions of another gateway; FORMAT is tyk' },
    'names-are-hashes': { description: 'With --from: the sessions are named by the hashes of identifiers' },
    'keep-unknown': { description: 'With --from: keep members without a field in meta_data, under tyk' },
    'passwords-are-hashed': { description: 'Passwords in the file are bcrypt or argon2id hashes; store them as is' },
  },
  exitCodes: {
    1: 'some lines were rejected; the others are imported',
    [stoppedExitCode]: 'stopped by Ctrl-C or SIGTERM',
  },
  examples: [
    'keyfront keys import keys.jsonl --org acme',
    'zcat keys.jsonl.gz | keyfront keys import - --update --dry-run',
  ],
  run: importKeys,
};

async function importKeys(io: IO, options: OptionValues, [file = '']: readonly string[]): Promise<number> {
  const importOptions = {
    orgID: parseOrgIDOption(options['org']),
    passwordsAreHashed: options['passwords-are-hashed'] === true,
    hashLengths: foreignHashLengths(readConfig(io.env).config.keyHash),
    actor: localActor(io, 'keys import', options),
    convert: converterFrom(options),
  };
  const [isDryRun, updates] = [options['dry-run'] === true, options['update'] === true];
  rejectServiceURL(io);
  const size = file === '-' ? undefined : await sizeOf(file);
  const mode = isDryRun ? 'read' : 'create';
  return withServices(io, { access: mode, liveQuotas: updates }, async ({ ports, store, load }) => {
    const policies = await ports.policies.current();
    const progress = createProgressLine(io, 'lines');
    let bytesRead = 0;
    const stop = new AbortController();
    const bytes = countBytes(untilStopped(readBytes(io, file), stop.signal), (count) => (bytesRead += count));
    io.onStop(() => {
      progress.end();
      io.stderr('Stopping: the lines that were read are stored first.\n');
      stop.abort();
    });
    const target = {
      ports,
      store: isDryRun ? createDryRunStore(store) : store,
      ...(updates && { replace: createReplace(createKeyService(ports), importOptions.actor, isDryRun) }),
    };
    const print = (line: number, text: string) => {
      progress.end();
      io.stderr(`line ${line}: ${text}\n`);
    };
    const importAll = () =>
      importLines(
        target,
        wholeLines(splitLines(bytes), stop.signal),
        { ...importOptions, policies },
        {
          onInvalidLine: (line, reason) => print(line, printable(reason)),
          onDuplicate: (line, first) => print(line, `skipped, because line ${first} has the same key_id`),
          // An import only counts them, because a file may have a warning in each line.
          ...(isDryRun && {
            onWarnings: (line: number, text: string) => print(line, `warning: ${printable(text)}`),
            onDifferences: (line: number, found: readonly Difference[]) =>
              found.forEach((one) => print(line, printable(describeDifference(one)))),
          }),
          onProgress: (lines) => progress.show(lines, size === undefined ? undefined : Math.min(bytesRead / size, 1)),
        },
      );
    const counts = await (isDryRun ? importAll() : load(importAll));
    progress.end();
    printJSONResult(io, options, { dry_run: isDryRun, ...counts });
    io.stderr(summaryOf(counts, { isDryRun, updates }));
    for (const [code, count] of Object.entries(counts.differences ?? {})) {
      const meaning = differences[code as DifferenceCode];
      io.stderr(`${code}, keys: ${count.toLocaleString('en')}. A member of these ${meaning}.\n`);
    }
    if (!isDryRun && counts.warned > 0) {
      io.stderr(`Lines with warnings: ${counts.warned.toLocaleString('en')}. \`keys preview --import\` shows them.\n`);
    }
    if (!isDryRun && counts.expired > 0) {
      const count = counts.expired.toLocaleString('en');
      io.stderr(
        `Expired before the import: ${count} of these keys. They have no event; list them with \`keys list --state expired\`.\n`,
      );
    }
    if (stop.signal.aborted) {
      const ofOthers = updates ? 'equal keys stay as they are' : 'existing keys are skipped';
      io.stderr(`Stopped before the end. The same command continues: ${ofOthers}.\n`);
      return stoppedExitCode;
    }
    return counts.invalid === 0 ? 0 : 1;
  });
}

/** @throws {UsageError} if the format is unknown, or an option needs one. */
function converterFrom(options: OptionValues): ImportOptions['convert'] {
  const from = options['from'];
  const [namesAreHashes, keepsUnknown] = [options['names-are-hashes'] === true, options['keep-unknown'] === true];
  if (from === undefined) {
    const alone = namesAreHashes ? '--names-are-hashes' : keepsUnknown ? '--keep-unknown' : undefined;
    if (alone !== undefined) throw new UsageError(`${alone} needs --from.`);
    return undefined;
  }
  if (from !== 'tyk') throw new UsageError('--from must be tyk.');
  if (options['passwords-are-hashed'] === true) {
    throw new UsageError('--passwords-are-hashed is not for --from: each session says whether its password is hashed.');
  }
  return (found) => convertSession(found, { namesAreHashes, keepsUnknown });
}

function summaryOf(
  { imported, updated, existing, invalid }: ImportCounts,
  { isDryRun, updates }: { readonly isDryRun: boolean; readonly updates: boolean },
): string {
  const format = (count: number) => count.toLocaleString('en');
  const verb = (participle: string) => (isDryRun ? `would be ${participle}` : participle);
  const others = updates
    ? `${format(updated)} ${verb('updated')}, ${format(existing)} unchanged`
    : `${format(existing)} skipped (already exist)`;
  const prefix = isDryRun ? 'Dry run, nothing was stored: ' : '';
  return `${prefix}${format(imported)} ${verb('imported')}, ${others}, ${format(invalid)} rejected.\n`;
}

/** Returns the function that replaces the definition of an existing key, or previews that. */
function createReplace(keys: KeyService, actor: Actor, isDryRun: boolean): NonNullable<ImportTarget['replace']> {
  const caller = { ...actor, orgID: undefined, requestID: '' };
  return async ({ name, input, passwordHash }) => {
    const request = { ...name, input, passwordHash, resetQuota: false };
    try {
      return (
        await withWireIssuePaths(null, () =>
          isDryRun ? keys.previewOrgKeyUpdate(caller, request) : keys.updateOrgKey(caller, request),
        )
      ).isChanged;
    } catch (error) {
      if (errorCodeOf(error) !== 'NOT_FOUND') throw error;
      throw new AppError('NOT_FOUND', 'The key is deleted; `keyfront keys restore` restores it.', { cause: error });
    }
  };
}

/**
 * The size of a file in bytes; undefined if it is not known in advance.
 *
 * @throws {UsageError} if the file cannot be read: a mistyped name must not create an installation
 */
async function sizeOf(file: string): Promise<number | undefined> {
  let found: Stats;
  try {
    await access(file, constants.R_OK);
    found = await stat(file);
  } catch (cause) {
    throw new UsageError(`Cannot read the file ${file}: ${explainSystemError(cause)}.`, { cause });
  }
  if (found.isDirectory()) throw new UsageError(`Cannot read the file ${file}: it is a folder; name a file.`);
  return found.size > 0 ? found.size : undefined;
}

/** Ends at a signal to stop, even while the next chunk is awaited. */
async function* untilStopped(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  while (!signal.aborted) {
    const next = await orStopped(iterator.next(), signal);
    if (next === undefined || next.done === true) return;
    yield next.value;
  }
}

/** Resolves to undefined at a signal. Unlike a race with one promise for all chunks, it releases the chunks that were read. */
function orStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    const settle = () => signal.removeEventListener('abort', stop);
    signal.addEventListener('abort', stop, { once: true });
    // The signal may have come while the chunk was requested.
    if (signal.aborted) stop();
    void work.then(resolve, reject).finally(settle);
  });
}

/** Ends at a signal to stop, so that the beginning of a line is not taken for a line. */
async function* wholeLines(lines: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const line of lines) {
    if (signal.aborted) return;
    yield line;
  }
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
function createDryRunStore(store: Pick<KeyStore, 'findMany' | 'namesOf'>): Pick<KeyStore, 'add'> {
  return {
    add: async (keys) => {
      const hashes = keys.map(({ next }) => next.keyHash);
      const found = await store.findMany(hashes);
      const existing = new Set([...found.map(({ keyHash }) => keyHash), ...(await store.namesOf(hashes)).keys()]);
      return keys.map(({ next }) => !existing.has(next.keyHash));
    },
  };
}
