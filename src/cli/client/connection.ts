import { setTimeout as wait } from 'node:timers/promises';
import type { CredentialKind } from '../../credentials/credential.js';
import { credentialKindOf } from '../../credentials/token.js';
import { systemCodeOf } from '../../lib/durable-file.js';
import { AppError, toErrorCode, type Issue } from '../../lib/errors.js';
import { fetchText, type FetchedText, type FetchLimits } from '../../lib/fetch-text.js';
import { parseJSON, stringifyJSON } from '../../lib/json.js';
import { isLoopback } from '../../lib/loopback.js';
import { explainSystemError } from '../../lib/system-error.js';
import type { Option, OptionValues } from '../command.js';
import { readPrivateFile, parsePath } from '../input.js';
import { UsageError, type IO } from '../io.js';

/** A kind of credential: its environment variable and its request header. */
interface CredentialSource {
  /** Environment variable with the credential. There is no option for it: all users of a machine can see arguments. */
  readonly variable: 'KEYFRONT_MANAGEMENT_CREDENTIAL' | 'KEYFRONT_SERVICE_CREDENTIAL';
  readonly kind: CredentialKind;
  readonly header: (credential: string) => Readonly<Record<string, string>>;
}

/** The credential of previews. */
export const managementCredential: CredentialSource = {
  variable: 'KEYFRONT_MANAGEMENT_CREDENTIAL',
  kind: 'management',
  header: (credential) => ({ authorization: `Bearer ${credential}` }),
};

/** The credential of all other commands. */
export const serviceCredential: CredentialSource = {
  variable: 'KEYFRONT_SERVICE_CREDENTIAL',
  kind: 'service',
  header: (credential) => ({ 'x-svc-authorization': credential }),
};

/** Options of the commands that connect to a service. */
export const connectionOptions: Readonly<Record<string, Option>> = {
  'credential-file': {
    value: 'PATH',
    description: 'Read the credential from a file of mode 0600 instead of the environment',
    isCommon: true,
  },
  'plain-http': {
    description: 'Allow http:// to other machines, which sends the credential unencrypted',
    isCommon: true,
  },
};

/** Sends a request with a JSON body, or a GET request if there is none. Resolves to the JSON object of the response. */
export type SendRequest = (
  path: string,
  body?: unknown,
  isChange?: boolean,
) => Promise<Readonly<Record<string, unknown>>>;

/** A response of the service is at most 2 MiB; a list of issues may be longer. */
const limits: FetchLimits = { timeoutMs: 30_000, maxBytes: 32 * 1024 * 1024 };
const maxAttempts = 4;
const maxRetryDelaySeconds = 30;

/** The address of a service, and the headers of requests to it. */
export interface ServiceAddress {
  readonly baseURL: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns the address of the service at `url`, with the credential in the headers.
 *
 * @throws {UsageError} if the URL is not allowed or the credential is missing
 */
export function serviceAddress(io: IO, options: OptionValues, url: string, kind: CredentialSource): ServiceAddress {
  const baseURL = parseBaseURL(url, options['plain-http'] === true);
  return {
    baseURL,
    headers: { 'content-type': 'application/json', ...kind.header(readCredential(io, options, kind)) },
  };
}

/**
 * Creates a connection to a service. Requests are repeated while the service is unavailable.
 *
 * @param lookup - the command that shows whether a change was made whose response was lost
 */
export function createConnection(
  io: IO,
  { baseURL, headers }: ServiceAddress,
  lookup = 'keyfront keys history',
): SendRequest {
  return async (path, body, isChange = false) => {
    for (let attempt = 1; ; attempt++) {
      const fetched = await request(new URL(`.${path}`, baseURL), headers, body, isChange ? lookup : undefined);
      const response = parseResponse(fetched, baseURL);
      const delaySeconds = retryDelayOf(fetched, response);
      if (delaySeconds === undefined || attempt === maxAttempts) {
        if (isOfKeyfront(path, fetched.status, response)) return response;
        throw notKeyfront(baseURL, fetched.status);
      }
      io.stderr(`The service is busy. Retrying in ${delaySeconds} s.\n`);
      await wait(delaySeconds * 1000);
    }
  };
}

/** Creates the `AppError` of an error response of REST, or of an error of GraphQL. */
export function toAppError(response: unknown): AppError {
  const { code, message, issues } = Object(response) as Record<string, unknown>;
  const knownCode = toErrorCode(code) ?? 'INTERNAL';
  const text = typeof message === 'string' ? message : 'The service rejected the request without a reason.';
  return new AppError(knownCode, text, { issues: Array.isArray(issues) ? issues.flatMap(toIssues) : [] });
}

function toIssues(issue: unknown): Issue[] {
  const { path, code, message } = Object(issue) as Record<string, unknown>;
  if (typeof path !== 'string' || typeof code !== 'string' || typeof message !== 'string') return [];
  return [{ path: parsePath(path), code, message }];
}

function parseBaseURL(text: string, allowsPlainHTTP: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.search !== '' || url.hash !== '') {
    const isBareHost = !/[/?@]/.test(text) && URL.canParse(`http://${text}`);
    const suggestion = isBareHost ? `; did you mean http://${text}?` : '.';
    throw new UsageError(
      `The URL of a service is an http:// or https:// URL without a query, such as https://keys.example.com${suggestion}`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('The URL must not contain a credential: the process list shows it.');
  }
  if (url.protocol === 'http:' && !allowsPlainHTTP && !isLoopback(url.hostname)) {
    throw new UsageError(
      `The credential would be sent unencrypted to ${url.hostname}. Use https:// or pass --plain-http.`,
    );
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

function readCredential(io: IO, options: OptionValues, { variable, kind }: CredentialSource): string {
  const file = options['credential-file'];
  const text = (typeof file === 'string' ? readCredentialFile(file) : (io.env[variable] ?? '')).trim();
  if (text === '') {
    const problem = typeof file === 'string' ? `The file ${file} is empty` : `${variable} is not set`;
    throw new UsageError(`${problem}. A service requires a credential: set ${variable} or use --credential-file.`);
  }
  const source = typeof file === 'string' ? `The file ${file}` : variable;
  // Other characters could inject a header. The message does not repeat the value.
  if (!/^[\x21-\x7e]{1,8192}$/.test(text)) {
    const hint = /^bearer /i.test(text) ? '; remove `Bearer` before it' : '';
    throw new UsageError(`${source} does not contain a credential${hint}.`);
  }
  const actualKind = credentialKindOf(text);
  if (actualKind !== undefined && actualKind !== kind) {
    throw new UsageError(`${source} contains a ${actualKind} credential. This command needs a ${kind} credential.`);
  }
  return text;
}

function readCredentialFile(file: string): string {
  try {
    return readPrivateFile(file);
  } catch (cause) {
    if (cause instanceof Error && systemCodeOf(cause) === undefined) throw new UsageError(cause.message, { cause });
    throw new UsageError(`Cannot read the file ${file}: ${explainSystemError(cause)}.`, { cause });
  }
}

async function request(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: unknown,
  lookup: string | undefined,
): Promise<FetchedText> {
  try {
    const message = body === undefined ? { method: 'GET' } : { method: 'POST', body: stringifyJSON(body) };
    // `redirect: 'manual'`: the credential must not be sent to another address.
    return await fetchText(url, { ...message, headers, redirect: 'manual' }, limits);
  } catch (error) {
    throw toConnectionError(url.origin, error, lookup);
  }
}

function parseResponse({ status, headers, text }: FetchedText, baseURL: URL): Readonly<Record<string, unknown>> {
  if (status >= 300 && status < 400) {
    throw new Error(`${baseURL.origin} redirects (status ${status}). Use the target of the redirect as the URL.`);
  }
  try {
    const response = /json/.test(headers.get('content-type') ?? '') ? parseJSON(text) : undefined;
    if (typeof response === 'object' && response !== null && !Array.isArray(response)) return response;
  } catch {
    // Invalid JSON: reported below.
  }
  throw notKeyfront(baseURL, status);
}

/** Whether a JSON object can be a response of Keyfront to this path. Other paths of a Keyfront have errors of REST. */
function isOfKeyfront(path: string, status: number, response: Readonly<Record<string, unknown>>): boolean {
  const isGraphQL = path === '/graphql';
  if (response['status'] === 'error') return !isGraphQL || status !== 404;
  return isGraphQL ? 'data' in response || 'errors' in response : status < 400;
}

function notKeyfront({ href }: URL, status: number): Error {
  return new Error(`${href} is not a Keyfront service (status ${status}). Check the URL.`);
}

/** Seconds until a retry; undefined unless the response is 503 or has the code UNAVAILABLE. */
function retryDelayOf({ status, headers }: FetchedText, response: object): number | undefined {
  const { errors, ...restError } = response as Record<string, unknown>;
  const error: unknown = Array.isArray(errors) ? errors[0] : restError;
  const { extensions, ...members } = Object(error) as Record<string, unknown>;
  const { code, retryAfterSeconds } = Object(extensions ?? members) as Record<string, unknown>;
  if (status !== 503 && code !== 'UNAVAILABLE') return undefined;
  const delaySeconds = Number(headers.get('retry-after') ?? retryAfterSeconds ?? 1);
  return Number.isFinite(delaySeconds) && delaySeconds >= 0 ? Math.min(delaySeconds, maxRetryDelaySeconds) : 1;
}

/** Explanations for the codes of Node's network errors; the first pattern that matches applies. */
const explanations: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'the host name cannot be resolved'],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'the network is unreachable'],
  [/TIMEOUT|^ETIMEDOUT$|^TimeoutError$/, 'no response in time'],
  [/^ResponseTooLarge$/, 'the response is too large'],
  [/ALTNAME/, 'the certificate is for another host name'],
  [/CERT_HAS_EXPIRED/, 'the certificate has expired'],
  [
    /SELF_SIGNED|UNABLE_TO|CERT/,
    'the certificate is not signed by a trusted authority; NODE_EXTRA_CA_CERTS can name an additional one',
  ],
  [/SSL|EPROTO|TLS/, 'the TLS handshake failed; does the server use http://?'],
  [/^HPE_/, 'the response is not HTTP; does the server use https://?'],
  [/^(ECONNRESET|UND_ERR_SOCKET|EPIPE)$/, 'the connection was closed'],
];

/** Codes of errors after which the request was certainly not sent. */
const notSentCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Creates the error for a request that failed without a response. */
export function toConnectionError(origin: string, error: unknown, lookup: string | undefined): Error {
  const code = innermostCode(error);
  const explanation = explainConnection(code);
  const mayHaveChanged = lookup !== undefined && !notSentCodes.has(code) && !/CERT|TLS|SSL|EPROTO/.test(code);
  const advice = mayHaveChanged ? ` It is unknown whether the change was made: see \`${lookup}\`.` : '';
  const end = explanation.endsWith('?') ? '' : '.';
  return new Error(`Cannot connect to ${origin}: ${explanation}${end}${advice}`, { cause: error });
}

/** Returns the explanation of a request that failed without a response. */
export function explainConnectionError(error: unknown): string {
  return explainConnection(innermostCode(error));
}

function explainConnection(code: string): string {
  return (
    explanations.find(([pattern]) => pattern.test(code))?.[1] ?? `the connection failed (${code || 'unknown reason'})`
  );
}

/** The code of the innermost cause that has one, otherwise a name or a message. */
function innermostCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const causeCode = innermostCode(error.cause);
  if (causeCode !== '') return causeCode;
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string') return code;
  return error.name === 'Error' ? error.message : error.name;
}
