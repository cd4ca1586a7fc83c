/** Input for the text of the first start. */
export interface WelcomeOptions {
  /** The address of the service, such as `http://0.0.0.0:4000`. */
  readonly url: string;
  readonly management: string;
  readonly service: string;
  /** Whether the service serves GraphiQL and the REST documentation. */
  readonly hasPages: boolean;
  readonly hasConsole: boolean;
}

/** Formats the text of the first start: the credentials, addresses and example requests. */
export function formatWelcome({ url, management, service, ...pages }: WelcomeOptions): string {
  const baseURL = toReachableURL(url);
  return `
Keyfront listens on ${url}

  Save these two credentials now; they are not shown again:

    management (previews)            ${management}
    service    (organisation keys)   ${service}

${formatPages(baseURL, pages)}

  Preview a definition with the REST key API:

    curl -s ${baseURL}/api/keys/preview \\
      -H 'Authorization: Bearer ${management}' \\
      -H 'Content-Type: application/json' \\
      -d '{"alias":"Billing","org_id":"acme","rate":100,"per":60}'

  Preview it with GraphQL:

    curl -s ${baseURL}/graphql \\
      -H 'Authorization: Bearer ${management}' \\
      -H 'Content-Type: application/json' \\
      -d '{"query":"{ previewKey(input: {alias: \\"Billing\\", orgID: \\"acme\\", rate: 100, per: 60}) { keyID keyHash } }"}'

`;
}

/** Formats the text of the first start in production, which contains no credential. */
export function formatFileWelcome(
  { url, ...pages }: Omit<WelcomeOptions, 'management' | 'service'>,
  file: string,
): string {
  return `
Keyfront listens on ${url}

  The first credentials, one for each kind, are in ${file}
  Only the user of the service can read it. Save the credentials, and delete the file.

${formatPages(toReachableURL(url), pages)}

`;
}

/** Formats the text of a later start: the pages, and how to replace a lost credential. */
export function formatLaterStart({ url, ...pages }: Omit<WelcomeOptions, 'management' | 'service'>): string {
  return `Keyfront listens on ${url}

${formatPages(toReachableURL(url), pages)}
  To replace a lost credential, run: npx keyfront credentials issue --kind service --label NAME

`;
}

function formatPages(
  baseURL: string,
  { hasPages, hasConsole }: Pick<WelcomeOptions, 'hasPages' | 'hasConsole'>,
): string {
  const pages = hasPages
    ? `  GraphiQL:  ${baseURL}/   Paste the credentials under "Headers" and press the play button.
  REST API:  ${baseURL}/docs   Paste the credentials under "Authorize".`
    : `  OpenAPI:   ${baseURL}/openapi.json
  GraphiQL and the REST documentation are disabled; KEYFRONT_GRAPHIQL=on enables them.`;
  return hasConsole ? `  Console:   ${baseURL}/console   Sign in with the service credential.\n${pages}` : pages;
}

/** Replaces the unspecified address (0.0.0.0, ::), which clients cannot open, by the loopback address. */
function toReachableURL(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
