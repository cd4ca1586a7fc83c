import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError, errorCodes, type Issue } from '../../lib/errors.js';
import { fetchText, type FetchedText, type FetchLimits } from '../../lib/fetch-text.js';
import { parseJSON, stringifyJSON } from '../../lib/json.js';
import { isLoopback } from '../../lib/loopback.js';
import type { Option, OptionValues } from '../command.js';
import { UsageError, type IO } from '../io.js';
import { parsePath } from '../input/path.js';

/** What a service that is asked over the network takes to let us in. */
export interface CredentialKind {
  /** The environment variable that has the credential. It never comes as an argument, which all users of a machine can see. */
  readonly variable: 'KEYFRONT_MANAGEMENT_CREDENTIAL' | 'KEYFRONT_SERVICE_CREDENTIAL';
  readonly header: (credential: string) => Readonly<Record<string, string>>;
}

export const managementCredential: CredentialKind = {
  variable: 'KEYFRONT_MANAGEMENT_CREDENTIAL',
  header: (credential) => ({ authorization: `Bearer ${credential}` }),
};

export const serviceCredential: CredentialKind = {
  variable: 'KEYFRONT_SERVICE_CREDENTIAL',
  header: (credential) => ({ 'x-svc-authorization': credential }),
};

export const connectionOptions: Readonly<Record<string, Option>> = {
  'credential-file': {
    value: 'PATH',
    description: 'The file that has the credential, where the environment does not.',
    isCommon: true,
  },
  'plain-http': {
    description:
      'Send the credential without encryption, also beyond this machine. Without it, http:// is for loopback only.',
    isCommon: true,
  },
};

/** Sends a JSON body to a path of the service, or reads it where there is none; answers JSON, whatever the status. */
export type SendRequest = (
  path: string,
  body?: unknown,
  isChange?: boolean,
) => Promise<Readonly<Record<string, unknown>>>;

/** A response of the service has at most 2 MiB; a list of issues may have more. */
const limits: FetchLimits = { timeoutMs: 30_000, maxBytes: 32 * 1024 * 1024 };
const mostAttempts = 4;
const longestPauseSeconds = 30;

/** Everything that a connection needs, checked before anything is sent. Throws a UsageError in words. */
export function createConnection(io: IO, values: OptionValues, url: string, key: CredentialKind): SendRequest {
  const base = baseOf(url, values['plain-http'] === true);
  const headers = { 'content-type': 'application/json', ...key.header(credentialFrom(io, values, key)) };
  return async (path, body, isChange = false) => {
    for (let attempt = 1; ; attempt++) {
      const response = await request(new URL(`.${path}`, base), headers, body, isChange);
      const answer = answerOf(response, base);
      const pause = pauseIn(response, answer);
      if (pause === undefined || attempt === mostAttempts) return answer;
      io.stderr(`The service is busy. Trying again in ${pause} s.\n`);
      await wait(pause * 1000);
    }
  };
}

/** The refusal that an answer of REST or an error of GraphQL tells of, with paths in the names that it has them in. */
export function toAppError(said: unknown): AppError {
  const { code, message, issues } = Object(said) as Record<string, unknown>;
  const known = errorCodes.find((one) => one === code) ?? 'INTERNAL';
  const text = typeof message === 'string' ? message : 'The service refused without saying why.';
  return new AppError(known, text, { issues: Array.isArray(issues) ? issues.flatMap(issueFrom) : [] });
}

function issueFrom(said: unknown): Issue[] {
  const { path, code, message } = Object(said) as Record<string, unknown>;
  if (typeof path !== 'string' || typeof code !== 'string' || typeof message !== 'string') return [];
  return [{ path: parsePath(path), code, message }];
}

function baseOf(text: string, mayBePlain: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new UsageError('The URL must be like https://keys.example.com, without a query.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('The URL must not carry a credential: the process list would show it.');
  }
  if (url.protocol === 'http:' && !mayBePlain && !isLoopback(url.hostname)) {
    throw new UsageError(
      `Over http:// to ${url.hostname}, whoever is on the way could read the credential. Use https://, or --plain-http if you must.`,
    );
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

function credentialFrom(io: IO, values: OptionValues, { variable }: CredentialKind): string {
  const file = values['credential-file'];
  const text = typeof file === 'string' ? contentOf(file) : io.env[variable];
  const source = typeof file === 'string' ? `The file ${file}` : variable;
  if (text === undefined || text.trim() === '') {
    throw new UsageError(
      `${typeof file === 'string' ? `${source} is empty` : `${variable} is not set`}: asking a service takes a credential.`,
    );
  }
  // Anything else is no credential of ours, and could break out of the header. What it is, nobody is told.
  if (!/^[\x21-\x7e]{1,8192}$/.test(text.trim())) throw new UsageError(`${source} does not hold a credential.`);
  return text.trim();
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`The file ${file} cannot be read.`, { cause });
  }
}

async function request(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: unknown,
  isChange: boolean,
): Promise<FetchedText> {
  try {
    // A redirection is not followed: the credential is for this address and no other.
    const message = body === undefined ? { method: 'GET' } : { method: 'POST', body: stringifyJSON(body) };
    return await fetchText(url, { ...message, headers, redirect: 'manual' }, limits);
  } catch (error) {
    const code = codeOf(error);
    const doubt =
      isChange && !neverSent.has(code) && !/CERT|TLS|SSL|EPROTO/.test(code)
        ? ' Whether the change was made is not known: `keyfront history` tells.'
        : '';
    throw new Error(`${url.origin} cannot be asked: ${wordsFor(code)}.${doubt}`, { cause: error });
  }
}

/** The code of an error as deep inside it as there is one. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const inner = codeOf(error.cause);
  if (inner !== '') return inner;
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string') return code;
  return error.name === 'Error' ? error.message : error.name;
}

const neverSent: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const words: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'nobody listens there'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'its name leads nowhere'],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'no network leads there'],
  [/TIMEOUT|^ETIMEDOUT$|^TimeoutError$/, 'it does not answer in time'],
  [/^ResponseTooLarge$/, 'its response is too large'],
  [/ALTNAME/, 'its certificate is for another name'],
  [/CERT_HAS_EXPIRED/, 'its certificate has expired'],
  [
    /SELF_SIGNED|UNABLE_TO|CERT/,
    'its certificate is signed by nobody we know; NODE_EXTRA_CA_CERTS may name your authority',
  ],
  [/SSL|EPROTO|TLS/, 'it does not speak TLS as we do; is it http://?'],
  [/^HPE_/, 'what answers does not speak HTTP; is it https://?'],
  [/^(ECONNRESET|UND_ERR_SOCKET|EPIPE)$/, 'the connection broke off'],
];

function wordsFor(code: string): string {
  return words.find(([pattern]) => pattern.test(code))?.[1] ?? `the connection failed (${code || 'unknown reason'})`;
}

function answerOf({ status, headers, text }: FetchedText, base: URL): Readonly<Record<string, unknown>> {
  if (status >= 300 && status < 400) {
    throw new Error(
      `${base.origin} sends us elsewhere (status ${status}). Name the address that it leads to yourself.`,
    );
  }
  try {
    const answer = /json/.test(headers.get('content-type') ?? '') ? parseJSON(text) : undefined;
    if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return answer;
  } catch {
    // No JSON after all, which is said below.
  }
  throw new Error(`${base.href} does not answer as Keyfront does (status ${status}). Is the address right?`);
}

/** After how many seconds to try again; undefined where that would not help. */
function pauseIn({ status, headers }: FetchedText, answer: object): number | undefined {
  const { errors, ...rest } = answer as Record<string, unknown>;
  const { extensions, ...plain } = Object(Array.isArray(errors) ? errors[0] : rest) as Record<string, unknown>;
  const { code, retryAfterSeconds } = Object(extensions ?? plain) as Record<string, unknown>;
  if (status !== 503 && code !== 'UNAVAILABLE') return undefined;
  const asked = Number(headers.get('retry-after') ?? retryAfterSeconds ?? 1);
  return Number.isFinite(asked) && asked >= 0 ? Math.min(asked, longestPauseSeconds) : 1;
}
