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
export function toConnectionError(origin: string, error: unknown, isChange: boolean): Error {
  const code = innermostCode(error);
  const explanation = explainConnection(code);
  const mayHaveChanged = isChange && !notSentCodes.has(code) && !/CERT|TLS|SSL|EPROTO/.test(code);
  const advice = mayHaveChanged ? ' It is unknown whether the change was made: see `keyfront history`.' : '';
  return new Error(`Cannot connect to ${origin}: ${explanation}.${advice}`, { cause: error });
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
