import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { DeliveredFragment } from '../client/client.js';
import { KeyfrontError } from '../client/errors.js';
import { gatewayNameProblem } from '../keys/gateways.js';
import { writeDurableFile } from '../lib/durable-file.js';
import { asError } from '../lib/errors.js';
import { isObject, stringifyJSON } from '../lib/json.js';
import { explainSystemError } from '../lib/system-error.js';
import { connectionOptions, serviceAddress, serviceCredential, toAppError } from './client/connection.js';
import { serviceURLFrom } from './client/open.js';
import { serviceURLOption, stringOption } from './client/run.js';
import type { CLICommand, OptionValues } from './command.js';
import { parseOrgIDOption } from './input.js';
import { UsageError, type IO } from './io.js';
import { shortHash } from './changes.js';

export const deliverFileCommand: CLICommand = {
  name: 'deliver file',
  summary: 'Keep a file with all keys and their secrets current, for a gateway',
  description:
    'Runs until Ctrl-C or SIGTERM. Writes FILE once all keys are read, and again after each change, by a rename of a complete file of mode 0600. Each start reads all keys anew; until then, FILE stays as it was. Without --template, FILE is a JSON array of keys as REST delivers them, in every state. With --template, it has a line for each identifier of each key that can be used now: the text of the template, in which `{key}` is the identifier, and `{key_hash}`, `{org_id}`, `{version}` or a path such as `{data.rate}` another value. Lines whose values have special characters are left out with a warning. Needs a credential with the scopes read and deliver.',
  arguments: ['FILE'],
  options: {
    org: { value: 'ID', description: 'Only keys of this organization' },
    template: { value: 'PATH', description: 'File with the line of one key, such as `"{key}" "{org_id}";`' },
    run: {
      value: 'COMMAND',
      description:
        'Run this with /bin/sh after FILE has changed, such as `nginx -s reload`; repeated until it succeeds',
    },
    gateway: {
      value: 'NAME',
      description: 'Name of the gateway that uses FILE: tell the service what it has, for `keyfront gateways list`',
    },
    url: { ...serviceURLOption, description: 'Address of the service (default: KEYFRONT_URL)' },
    ...connectionOptions,
  },
  exitCodes: { 0: 'ended by a signal', 1: 'the service rejected the credential, or FILE cannot be written' },
  examples: [
    'keyfront deliver file /etc/nginx/keys.map --url https://keys.example.com --template line.txt --run "nginx -s reload"',
  ],
  environment: ['KEYFRONT_URL', 'KEYFRONT_SERVICE_CREDENTIAL', 'NODE_EXTRA_CA_CERTS'],
  run: deliverFile,
};

async function deliverFile(io: IO, options: OptionValues, [file = '']: readonly string[]): Promise<number> {
  const url = serviceURLFrom(io, options);
  if (url === undefined) throw new UsageError('deliver file: name the service with --url or KEYFRONT_URL.');
  const name = stringOption(options, 'gateway');
  const nameProblem = name === undefined ? undefined : gatewayNameProblem(name);
  if (nameProblem !== undefined) throw new UsageError(`--gateway ${nameProblem}.`);
  const command = stringOption(options, 'run');
  if (command?.trim() === '') throw new UsageError('--run must not be empty.');
  const { baseURL, headers } = serviceAddress(io, options, url, serviceCredential);
  const template = readTemplate(stringOption(options, 'template'));
  const orgID = parseOrgIDOption(options['org']);
  // Loaded on demand, as for `keys follow`.
  const { createClient, createCopyDigest, sync } = await import('../client/client.js');
  const stop = new AbortController();
  io.onStop(() => stop.abort());
  const keys = new Map<string, DeliveredFragment>();
  const digest = createCopyDigest((text) => createHash('sha256').update(text).digest('hex'));
  const leftOut = new Set<string>();
  const leaveOut = (keyHash: string) => {
    if (leftOut.has(keyHash)) return;
    leftOut.add(keyHash);
    io.stderr(`Left out the key ${shortHash(keyHash)}: a value has special characters.\n`);
  };
  const output = createOutput(io, file, command, stop, () =>
    template === undefined ? toJSONText(keys.values()) : toLines(template, keys.values(), leaveOut),
  );
  let isAvailable = true;
  const client = createClient({
    url: baseURL.href,
    // `redirect: 'manual'`: the credential must not be sent to another address.
    fetch: async (address, init) => {
      const sent = { ...init, headers: { ...headers, ...(init?.headers as object) }, redirect: 'manual' } as const;
      try {
        const response = await fetch(address, sent);
        isAvailable = true;
        return response;
      } catch (error) {
        if (isAvailable && !stop.signal.aborted) io.stderr(`${baseURL.origin} is not available. Trying again.\n`);
        isAvailable = false;
        throw error;
      }
    },
  });
  try {
    await sync(client, {
      orgID,
      onUpsert: (key) => {
        keys.set(key.keyHash, key);
        digest.put(key.keyHash, key.version);
      },
      onDelete: (keyHash) => {
        keys.delete(keyHash);
        digest.remove(keyHash);
      },
      ...(name !== undefined && { gateway: { name, digest: digest.value, whenApplied: output.whenApplied } }),
      onUnreadable: (keyHash) =>
        io.stderr(
          `The key ${shortHash(keyHash)} cannot be read; its last state is kept if it was read. Run \`keyfront check\`.\n`,
        ),
      checkpoint: { load: () => undefined, save: () => output.changed(), keyHashes: () => keys.keys() },
      signal: stop.signal,
    });
    await output.end();
    return 0;
  } catch (error) {
    stop.abort();
    await output.end();
    throw error instanceof KeyfrontError ? toAppError(error) : error;
  }
}

/** The line of one key. @throws {UsageError} if the file cannot be read, or has no line with an identifier. */
function readTemplate(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  let line: string;
  try {
    line = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw new UsageError(`Cannot read the file ${path}: ${explainSystemError(cause)}.`, { cause });
  }
  if (line.includes('\n') || !line.includes('{key')) {
    throw new UsageError('The template must be one line with {key} or {key_hash}.');
  }
  return line;
}

/** How often FILE is written at most, in milliseconds. */
const pauseMs = 1_000;
/** How often FILE is written without a change: a key may have expired, or its previous identifier retired. */
const maxPauseMs = 60_000;

/** Writes the file when it has to change, and runs the command after it. */
function createOutput(io: IO, file: string, command: string | undefined, stop: AbortController, render: () => string) {
  let written: string | undefined;
  let dueMs = -Infinity;
  let isRunDue = false;
  let failure: Error | undefined;
  let running: Promise<void> | undefined;
  let changes = 0;
  let rendered = 0;
  const waiting = new Set<{ readonly upTo: number; readonly resolve: () => void }>();

  async function keepCurrent(): Promise<void> {
    while (!stop.signal.aborted) {
      if (performance.now() >= dueMs) {
        dueMs = performance.now() + maxPauseMs;
        rendered = changes;
        const text = render();
        if (text !== written) {
          writeFile(file, text);
          io.stderr(`Wrote ${file}.\n`);
          written = text;
          isRunDue = command !== undefined;
        }
      }
      if (isRunDue && command !== undefined) {
        const code = await runCommand(command);
        isRunDue = code !== 0;
        if (isRunDue) io.stderr(`The command ended with ${code}. It is run again.\n`);
      }
      for (const one of isRunDue ? [] : waiting) {
        if (one.upTo > rendered) continue;
        waiting.delete(one);
        one.resolve();
      }
      await wait(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  return {
    /** Called for each change; the first call is after all keys were read. */
    changed: (): void => {
      if (failure !== undefined) throw failure;
      dueMs = -Infinity;
      changes += 1;
      running ??= keepCurrent().catch((error: unknown) => {
        failure = asError(error);
        stop.abort();
      });
    },
    /** Resolves when the file has all changes until now, and the command has succeeded after them. */
    whenApplied: (): Promise<void> =>
      new Promise((resolve) => {
        waiting.add({ upTo: changes, resolve });
      }),
    /** @throws what writing the file threw. */
    end: async (): Promise<void> => {
      await running;
      if (failure !== undefined) throw failure;
    },
  };
}

/** @throws {Error} which names the path as it was given, not the draft beside it. */
function writeFile(path: string, text: string): void {
  try {
    writeDurableFile(path, text);
  } catch (cause) {
    throw new Error(`Cannot write ${path}: ${explainSystemError(cause)}.`, { cause });
  }
}

function runCommand(command: string): Promise<number | string> {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', (error) => resolve(explainSystemError(error)));
    child.on('close', (code, signal) => resolve(code ?? signal ?? 1));
  });
}

/** The identifiers that are accepted now: both during a rotation. Null for one of which only the hash is known. */
function identifiersOf({ keyID, rotation }: DeliveredFragment, now: Date): (string | null)[] {
  const isRetired = !rotation || Date.parse(rotation.retiresAt) <= now.getTime();
  return isRetired ? [keyID] : [keyID, rotation.oldKeyID];
}

/** The keys as REST delivers them. */
function toJSONText(keys: Iterable<DeliveredFragment>): string {
  const rows = [...keys].toSorted(byHash).map(({ keyID, keyHash, identifierHash, rotation, version, state, data }) =>
    stringifyJSON({
      key: keyID,
      key_hash: keyHash,
      version,
      state,
      data,
      ...(identifierHash !== keyHash && { identifier_hash: identifierHash }),
      ...(rotation && {
        rotation: {
          old_key: rotation.oldKeyID,
          old_identifier_hash: rotation.oldIdentifierHash,
          retires_at: rotation.retiresAt,
          ...(rotation.silence !== null && { silence: rotation.silence }),
        },
      }),
    }),
  );
  return `[\n${rows.join(',\n')}\n]\n`;
}

function byHash(one: DeliveredFragment, other: DeliveredFragment): number {
  return one.keyHash < other.keyHash ? -1 : 1;
}

function toLines(
  template: string,
  keys: Iterable<DeliveredFragment>,
  leaveOut: (keyHash: string) => void,
  now = new Date(),
): string {
  const lines = [...keys].toSorted(byHash).flatMap((key) => {
    const expires = Number(key.data['expires'] ?? 0);
    if (key.state !== 'ACTIVE' || (expires >= 1 && expires * 1000 <= now.getTime())) return [];
    return identifiersOf(key, now).flatMap((keyID) => {
      const { keyHash, orgID, version, data } = key;
      // Without its identifier, the line of a map could accept requests without a key.
      const isKnown = keyID !== null || !template.includes('{key}');
      const line = isKnown
        ? toLine(template, { key: keyID, key_hash: keyHash, org_id: orgID, version, data })
        : undefined;
      if (line === undefined) leaveOut(keyHash);
      return line ?? [];
    });
  });
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * Characters that mean themselves in the files of gateways. A map of nginx has words and a first character of its own: a key
 * with the identifier `default` would let every client in.
 */
const plain = /^(?!~|(?:default|hostnames|include|volatile)$)[\w.~+/=:@-]*$/;

/** The line of a key; undefined if a value could mean something else in the file. An absent value is empty. */
function toLine(template: string, values: object): string | undefined {
  let isPlain = true;
  const line = template.replace(/\{([\w.]+)\}/g, (_, path: string) => {
    const value = path.split('.').reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), values);
    if (value === undefined || value === null) return '';
    const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    const text = isScalar ? String(value) : '';
    isPlain &&= isScalar && plain.test(text);
    return text;
  });
  return isPlain ? line : undefined;
}
