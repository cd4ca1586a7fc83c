import { open } from 'node:fs/promises';
import { AppError, pathText, type Issue } from '../../lib/errors.js';
import type { Services } from '../../storage/open-storage.js';
import { parseJSON } from '../../lib/json.js';
import { readDefinition } from '../../keys/definition/parse.js';
import { maxIssues } from '../../keys/definition/field-rules.js';
import { invalidDefinition } from '../../keys/definition/issues.js';
import { prepareImport } from '../../keys/commands/import.js';
import type { Ports, KeyTransition } from '../../keys/ports.js';
import { printable } from '../../lib/text.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import { definitionFromWire } from '../../wire/field-names.js';
import { hashTypeOf } from '../../crypto/password-hash.js';
import type { IO } from '../io.js';
import { splitLines } from '../input/jsonl.js';
import { withServices } from '../key-client/open.js';
import { parseOrganisation } from '../input/organisation.js';
import type { OptionValues } from '../command.js';
import { createProgressLine } from '../output/progress.js';

export interface ImportOptions {
  /** The owner of keys whose line names none. */
  readonly orgID: string | undefined;
  readonly passwordsAreHashed: boolean;
}

/** Of so many keys a transaction has, fewer where they take so long that whoever else wants to write would give up. */
const mostInBatch = 500;
const leastInBatch = 20;
const batchWithinMs = 200;
const actor = { credentialID: 'cli', label: 'keyfront keys import' };

/** Brings keys in, a line each. A bad line is named and left out; the others come in all the same. */
export async function importKeys(io: IO, values: OptionValues, [file = '']: readonly string[]): Promise<number> {
  const options = {
    orgID: parseOrganisation(values['org']),
    passwordsAreHashed: values['passwords-are-hashed'] === true,
  };
  return withServices(io, { access: 'create' }, async (installation) => {
    const handle = await open(file).catch((cause: unknown) => {
      throw new Error(`The file ${file} cannot be read.`, { cause });
    });
    const progress = createProgressLine(io, 'lines');
    const bytes = handle.createReadStream();
    // Of a pipe nobody knows how much is to come.
    const { size } = await handle.stat();
    const counts = await importLines(installation, splitLines(bytes), options, {
      onBadLine: (line, reason) => {
        progress.end();
        io.stderr(`line ${line}: ${printable(reason)}\n`);
      },
      onProgress: (lines) => progress.show(lines, size > 0 ? bytes.bytesRead / size : undefined),
    });
    progress.end();
    io.stderr(
      `${counts.imported} imported, ${counts.present} already there and left as they are, ${counts.bad} refused.\n`,
    );
    return counts.bad === 0 ? 0 : 1;
  });
}

/** Text, or the bytes of a file that should be UTF-8. */
type Line = string | Uint8Array;

interface Listener {
  onBadLine(line: number, reason: string): void;
  onProgress(lines: number): void;
}

/** Imports lines of the form `{"key_id": "...", ...definition}`, in transactions of up to a few hundred. */
export async function importLines(
  { ports, store }: Pick<Services, 'ports'> & { readonly store: Pick<Services['store'], 'add'> },
  lines: AsyncIterable<Line> | Iterable<Line>,
  options: ImportOptions,
  listener: Listener,
): Promise<{ imported: number; present: number; bad: number }> {
  const counts = { imported: 0, present: 0, bad: 0 };
  let batch: KeyTransition[] = [];
  let batchSize = leastInBatch;
  const flush = async () => {
    const start = performance.now();
    const added = await store.add(batch);
    const share = batchWithinMs / (performance.now() - start);
    batchSize = Math.round(Math.min(Math.max(batch.length * share, leastInBatch), mostInBatch));
    const imported = added.filter(Boolean).length;
    counts.imported += imported;
    counts.present += added.length - imported;
    batch = [];
  };
  let number = 0;
  for await (const line of lines) {
    number += 1;
    try {
      const text = textOf(line);
      if (text.trim() !== '') batch.push(await readLine(ports, text, options));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'INVALID') throw error;
      counts.bad += 1;
      listener.onBadLine(number, reasonOf(error));
    }
    if (batch.length >= batchSize) await flush();
    listener.onProgress(number);
  }
  await flush();
  return counts;
}

function textOf(line: Line): string {
  try {
    return typeof line === 'string' ? line : new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch (cause) {
    throw new AppError('INVALID', 'The line is not valid UTF-8.', { cause });
  }
}

async function readLine(
  ports: Ports,
  line: string,
  { orgID, passwordsAreHashed }: ImportOptions,
): Promise<KeyTransition> {
  const body = parseJSON(line);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AppError('INVALID', 'The line is not a JSON object.');
  }
  const { key_id: keyID, ...definition } = body;
  if (typeof keyID !== 'string') throw new AppError('INVALID', 'The line has no text `key_id`.');
  return withWireIssuePaths(definition, async () => {
    const { passwordHash, rest } = passwordsAreHashed
      ? takePasswordHash(definition)
      : { passwordHash: undefined, rest: definition };
    const input = readDefinition('update', definitionFromWire(rest));
    return prepareImport(ports, { keyID, orgID, passwordHash, input, actor });
  });
}

/** Takes the hash out of the line: it is kept as it is, and the rules for passwords are not rules for hashes. */
function takePasswordHash(definition: Record<string, unknown>): { passwordHash: string | undefined; rest: unknown } {
  const basic = definition['basic_auth_data'];
  if (typeof basic !== 'object' || basic === null || !('password' in basic) || basic.password === null) {
    return { passwordHash: undefined, rest: definition };
  }
  const { password, ...others } = basic;
  const type = typeof password === 'string' ? hashTypeOf(password) : undefined;
  const said: unknown = Reflect.get(others, 'hash_type');
  if (typeof password !== 'string' || type === undefined || (said !== undefined && said !== null && said !== type)) {
    const issue: Issue = {
      path: ['basicAuthData', 'password'],
      code: 'UNKNOWN_HASH_TYPE',
      message: 'must be a bcrypt or argon2id hash of the `hashType` given',
    };
    throw invalidDefinition([issue]);
  }
  return { passwordHash: password, rest: { ...definition, basic_auth_data: others } };
}

function reasonOf({ message, issues }: AppError): string {
  if (issues.length === 0) return message;
  const listed = issues.map(({ path, message: what }) => `${pathText(path)} ${what}`.trim()).join('; ');
  return issues.length < maxIssues ? listed : `${listed}; ${message}`;
}
