import { randomBytes } from 'node:crypto';
import { readConfig } from '../../config/config.js';
import { AppError } from '../../lib/errors.js';
import type { JSONValue } from '../../lib/json.js';
import { readDefinition } from '../../keys/definition/parse.js';
import { previewKey } from '../../keys/queries/preview-key.js';
import { printable } from '../../lib/text.js';
import { withWireIssuePaths, warningsMember } from '../../rest/json-body.js';
import { definitionFromWire, definitionToWire } from '../../wire/field-names.js';
import { createKeyHash } from '../../crypto/key-hash.js';
import type { OptionValues } from '../command.js';
import { createConnection, managementCredential, toAppError } from '../key-client/connection.js';
import { readDefinitions } from '../input/definitions.js';
import type { IO } from '../io.js';
import { toJSONLine } from '../output/json.js';
import { formatProblems, problemsOf, selectOutputFormat, type Problem, type OutputFormat } from '../output/format.js';

/** What is found of a definition that is valid, in the names of REST and without secrets. */
interface Found {
  /** Only where the definition names its key: that of an identifier made up for a preview says nothing. */
  readonly key_hash?: string;
  readonly data: unknown;
  readonly warnings: readonly Problem[];
}

/** Throws an `AppError` for a definition that is not valid, its paths in the names of REST. */
type Judge = (body: JSONValue) => Promise<Found>;

interface Verdict {
  readonly place: string;
  readonly found?: Found;
  readonly issues: readonly Problem[];
}

/** Judges definitions one after the other: 1 where one is not valid or, with `--strict`, deserves a warning. */
export async function preview(io: IO, values: OptionValues, files: readonly string[]): Promise<number> {
  const view = selectOutputFormat(io, values);
  const url = values['url'];
  const judge = typeof url === 'string' ? judgeAt(io, values, url) : judgeHere(io);
  let [count, invalid, warned] = [0, 0, 0];
  for (const file of files) {
    for await (const { place, body } of readDefinitions(io, file)) {
      const verdict = await verdictOn(place, body, judge);
      io.stdout(view.isJSON ? `${toJSONLine(memberOf(verdict))}\n` : linesOf(view, verdict));
      await io.stdoutDrained?.();
      count += 1;
      if (!verdict.found) invalid += 1;
      else if (verdict.found.warnings.length > 0) warned += 1;
    }
  }
  io.stderr(
    `${count} previewed: ${count - invalid} valid${warned > 0 ? ` (${warned} with warnings)` : ''}, ${invalid} not.\n`,
  );
  return invalid > 0 || (values['strict'] === true && warned > 0) ? 1 : 0;
}

async function verdictOn(place: string, body: JSONValue | AppError, judge: Judge): Promise<Verdict> {
  try {
    if (body instanceof AppError) throw body;
    return { place, found: await judge(body), issues: [] };
  } catch (error) {
    // All else says nothing of the definition: it could not be judged.
    if (!(error instanceof AppError) || !['INVALID', 'TOO_LARGE', 'FORBIDDEN'].includes(error.code)) throw error;
    return { place, issues: problemsOf(error) };
  }
}

/** Judges by the domain alone, with the settings of the environment: nothing is opened, and nobody is asked. */
function judgeHere(io: IO): Judge {
  const { config, secrets } = readConfig(io.env);
  const hashKeyID = createKeyHash(config.keyHash, secrets.keyHashPepper);
  const surroundings = { ownerID: undefined, hashKeyID, randomHex: () => randomBytes(16).toString('hex') };
  return async (body) =>
    withWireIssuePaths(body, () => {
      const input = readDefinition('preview', definitionFromWire(body));
      const { keyHash, definition, warnings } = previewKey(input, { ...surroundings, now: new Date() });
      const shown = warningsMember(warnings, body).warnings as Problem[] | undefined;
      return { ...hashMember(body, keyHash), data: definitionToWire(definition), warnings: shown ?? [] };
    });
}

/** Asks a service, over the face that speaks the names of the files. */
function judgeAt(io: IO, values: OptionValues, url: string): Judge {
  const send = createConnection(io, values, url, managementCredential);
  return async (body) => {
    const answer = await send('/api/keys/preview', body);
    if (answer['status'] === 'error') throw toAppError(answer);
    return {
      ...hashMember(body, String(answer['key_hash'])),
      data: withoutSecrets(answer['data']),
      warnings: problemsFrom(answer['warnings']),
    };
  };
}

function hashMember(body: JSONValue, keyHash: string): Pick<Found, 'key_hash'> {
  const isNamed = typeof body === 'object' && body !== null && 'key_id' in body && body.key_id !== null;
  return isNamed ? { key_hash: keyHash } : {};
}

/** The service echoes what it was sent, less the password; a log of a build should have none of it. */
function withoutSecrets(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  const { hmac_string: hmac, jwt_data: jwt, ...shown } = data as Record<string, unknown>;
  if (typeof jwt !== 'object' || jwt === null) return shown;
  const { secret, ...rest } = jwt as Record<string, unknown>;
  return { ...data, hmac_string: undefined, jwt_data: rest };
}

function problemsFrom(said: unknown): Problem[] {
  if (!Array.isArray(said)) return [];
  return said.map((one: unknown) => {
    const { path, code, message } = Object(one) as Record<string, unknown>;
    return { path: String(path), code: String(code), message: String(message) };
  });
}

function memberOf({ place, found, issues }: Verdict): object {
  return found ? { definition: place, valid: true, ...found } : { definition: place, valid: false, issues };
}

function linesOf(view: OutputFormat, { place, found, issues }: Verdict): string {
  const { paint } = view;
  if (!found) return `${printable(place)}: ${paint.red('not valid')}\n${formatProblems(view, 'error', issues)}`;
  const hash = found.key_hash === undefined ? '' : ` ${paint.dim(printable(found.key_hash))}`;
  return `${printable(place)}: ${paint.green('valid')}${hash}\n${formatProblems(view, 'warning', found.warnings)}`;
}
