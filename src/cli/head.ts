import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { z } from 'zod';
import { errorCodeOf } from '../lib/errors.js';
import { inPages } from '../lib/in-pages.js';
import { parseJSON } from '../lib/json.js';
import type { Services } from '../storage/open-storage.js';
import { mayBePurged, type KeyHead, type KeyRollback } from '../storage/records/checkpoint.js';
import type { LoggedCheckpoint } from '../storage/sql/keys/checkpoints.js';
import { withServices } from './client/open.js';
import { type CLICommand, type OptionValues } from './command.js';
import { splitLines } from './definitions.js';
import type { IO } from './io.js';
import { countOf, toJSONLine } from './output.js';

export const headCommand: CLICommand = {
  name: 'head',
  summary: 'Print the state of all keys and credentials, to detect later that an older one was put back',
  description:
    'Opens the storage read-only, unless --accept is given; services may run meanwhile. Keep the output of --json where no process that writes to the database can change it. It contains hashes of key identifiers, versions, used quotas and the labels of credentials, and no secret. `keyfront check --against FILE` compares the installation with it.',
  options: {
    json: { description: 'Print the head as JSON Lines', isCommon: true },
    accept: {
      description:
        'First replace the head in the database by the present state: `keyfront check` reports no older keys and credentials, and no missing receipts',
    },
  },
  examples: ['keyfront head --json > head.jsonl'],
  run: printHead,
};

async function printHead(io: IO, { json: isJSON, accept }: OptionValues): Promise<number> {
  return withServices(io, { access: accept === true ? 'write' : 'read' }, async (services) => {
    if (accept === true) await services.receiptCounts.accept(services.now());
    for (let isEnd = accept !== true; !isEnd;) {
      ({ isEnd } = await services.checkpoints.advance({ purgedBefore: new Date(0), accept: true }));
    }
    const { at, keys, credentials, digest } = await writeHead(services, async (line) => {
      if (isJSON !== true) return;
      io.stdout(line);
      // Without this wait, a slow reader would let the unread lines fill the memory.
      await io.stdoutDrained?.();
    });
    const summary = `Head of ${at.toISOString()}: ${countOf(keys, 'keys')}, ${countOf(credentials, 'credentials')}, digest ${digest}\n`;
    if (isJSON === true) io.stderr(summary);
    else io.stdout(summary);
    return 0;
  });
}

const associatedData = 'head|published';
const format = 2;

const Time = z.iso.datetime().transform((text) => new Date(text));
const Int64 = z.union([z.number(), z.bigint()]).transform(BigInt);
const Start = z.object({ keyfrontHead: z.literal(format), at: Time });
const Credential = z.object({
  credential: z.string(),
  label: z.string(),
  revoked: Time.optional(),
  expires: Time.optional(),
});
const Key = z.object({
  keyHash: z.string(),
  identity: z.string(),
  version: z.number(),
  link: z.string(),
  quotaUsed: Int64,
  quotaRenews: Int64.optional(),
  deleted: Time.optional(),
});
const End = z.object({ keys: z.number(), digest: z.string(), seal: z.string() });
const Logged = z.object({ sequence: z.number(), digest: z.string() });
type CredentialState = z.output<typeof Credential>;

/** A head as it was printed. */
interface HeadSummary {
  readonly at: Date;
  readonly keys: number;
  readonly credentials: number;
  /** SHA-256 over all lines before the last one. */
  readonly digest: string;
}

/**
 * Writes the head of an installation: one line for each credential and each key. The last line has the digest of the
 * others, sealed with the key ring.
 *
 * @throws {AppError} INTERNAL when a row fails its integrity check.
 */
async function writeHead(
  { credentials, checkpoints, sealer, now }: Services,
  write: (line: string) => Promise<void>,
): Promise<HeadSummary> {
  const at = now();
  const hash = createHash('sha256');
  const counts = { keys: 0, credentials: 0 };
  const put = async (value: object) => {
    const line = `${toJSONLine(value)}\n`;
    hash.update(line);
    await write(line);
  };
  await put({ keyfrontHead: format, at: at.toISOString() });
  for (const { id, label, revoked, expires } of await credentials.list()) {
    counts.credentials += 1;
    await put({ credential: id, label, revoked: revoked?.toISOString(), expires: expires?.toISOString() });
  }
  for await (const head of checkpoints.states()) {
    counts.keys += 1;
    await put({ ...head, deleted: head.deleted?.toISOString() });
  }
  const digest = hash.digest('base64url');
  const seal = Buffer.from(sealer.seal(digest, associatedData)).toString('base64');
  await write(`${toJSONLine({ keys: counts.keys, digest, seal })}\n`);
  return { at, ...counts, digest };
}

/**
 * Compares an installation with a head that was written earlier.
 *
 * @returns one line for each credential and each key that is older than in the head, or missing.
 * @throws {Error} when the file is no head, was changed, or is of another installation.
 */
export async function compareWithHead(services: Services, file: string): Promise<string[]> {
  const logged = await loggedCheckpointsOf(file);
  if (logged) {
    if (logged.length === 0)
      throw new Error(
        `The file ${file} contains no head: neither a line \`head published\` of the log of a service, nor the output of \`keyfront head --json\`.`,
      );
    const lost = await services.checkpoints.findLost(logged);
    return lost.map(({ sequence }) => `The head ${sequence} of the log is missing: an older database was put back.`);
  }
  const { digest, seal } = await endOf(file);
  requireSeal(services, file, digest, seal);
  const problems: string[] = [];
  const { at } = Start.parse(parseJSON((await firstOf(linesOf(file))) ?? ''));
  const states = new Map((await services.credentials.list()).map((one) => [one.id, one]));
  const keys = async function* (): AsyncIterable<KeyHead> {
    for await (const line of linesOf(file)) {
      const value = parseJSON(line);
      const credential = Credential.safeParse(value).data;
      if (credential) problems.push(...rollbackOfCredential(credential, states.get(credential.credential)));
      const key = Key.safeParse(value).data;
      if (key) yield key;
    }
  };
  const purgedBefore = purgedBeforeOf(services);
  for await (const page of inPages(keys(), pageSize)) {
    for (const rollback of await services.checkpoints.compare(page)) {
      if (!mayBePurged(rollback, at, purgedBefore)) problems.push(textOfRollback(rollback));
    }
  }
  return problems;
}

/** Returns one line for each difference between an installation and its newest checkpoint. */
export async function problemsOfCheckpoints(services: Services): Promise<string[]> {
  const problems: string[] = [];
  try {
    for await (const problem of services.checkpoints.verify(purgedBeforeOf(services))) {
      if (problem.kind === 'published') problems.push('The chain of the published heads is broken.');
      else if (problem.kind === 'credentials') {
        problems.push('The head of the credentials is older than the head of the keys: an older row was put back.');
      } else problems.push(textOfRollback(problem));
    }
  } catch (error) {
    if (errorCodeOf(error) !== 'INTERNAL') throw error;
    problems.push('The head of the keys fails the integrity check.');
  }
  return problems;
}

function purgedBeforeOf({ now, ports }: Services): Date {
  return new Date(now().getTime() - ports.restoreWindowMs);
}

const pageSize = 100;

function rollbackOfCredential(
  { credential: id, label, revoked, expires }: CredentialState,
  now: { readonly revoked: Date | undefined; readonly expires: Date | undefined } | undefined,
): string[] {
  const name = `The credential ${id} (${label})`;
  if (!now) return [`${name} is missing.`];
  if (revoked && !now.revoked) return [`${name} was revoked in the head, and is not revoked any more.`];
  const isLonger = expires !== undefined && (now.expires === undefined || now.expires > expires);
  return isLonger ? [`${name} expires later than in the head.`] : [];
}

function textOfRollback(rollback: KeyRollback): string {
  const { keyHash, version, quotaUsed } = rollback.head;
  switch (rollback.kind) {
    case 'missing':
      return `The key ${keyHash} is missing; it had version ${version} in the head.`;
    case 'replaced':
      return `The key ${keyHash} was replaced by a new key; it had version ${version} in the head.`;
    case 'older':
      return `The key ${keyHash} has version ${rollback.version}; it had version ${version} in the head.`;
    case 'history':
      return `The history of ${keyHash} up to version ${version} differs from the head.`;
    case 'quota':
      return `The used quota of ${keyHash} went back from ${quotaUsed} to ${rollback.quotaUsed} without a reset.`;
  }
}

function requireSeal({ sealer }: Services, file: string, digest: string, seal: string): void {
  try {
    if (sealer.open(Buffer.from(seal, 'base64'), associatedData) === digest) return;
  } catch (error) {
    throw new Error(`The head ${file} was not written with this key ring, or its key was removed.`, { cause: error });
  }
  throw changed(file);
}

/** The heads in lines of the log of a service; undefined if the file is the output of `keyfront head --json`. */
async function loggedCheckpointsOf(file: string): Promise<LoggedCheckpoint[] | undefined> {
  const found: LoggedCheckpoint[] = [];
  for await (const line of linesOf(file)) {
    const value = line.startsWith('{') ? jsonOf(line) : undefined;
    if (found.length === 0 && Start.safeParse(value).success) return undefined;
    const logged = Logged.safeParse(value).data;
    if (logged) found.push(logged);
  }
  return found;
}

/** The last line of a head, whose digest is that of the other lines. */
async function endOf(file: string): Promise<z.output<typeof End>> {
  const hash: Hash = createHash('sha256');
  let last: string | undefined;
  for await (const line of linesOf(file)) {
    if (last !== undefined) hash.update(`${last}\n`);
    last = line;
  }
  const end = End.safeParse(last === undefined ? undefined : jsonOf(last)).data;
  if (!end) throw new Error(`The file ${file} is not a complete head of \`keyfront head --json\`.`);
  if (end.digest !== hash.digest('base64url')) throw changed(file);
  return end;
}

function changed(file: string): Error {
  return new Error(`The head ${file} was changed after it was written.`);
}

function jsonOf(line: string): unknown {
  try {
    return parseJSON(line);
  } catch {
    return undefined;
  }
}

async function* linesOf(file: string): AsyncIterable<string> {
  for await (const line of splitLines(createReadStream(file))) {
    if (line.length > 0) yield Buffer.from(line).toString('utf8');
  }
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}
