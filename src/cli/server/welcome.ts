/** What the first start shows. */
export interface WelcomeOptions {
  /** Where the service listens, such as `http://0.0.0.0:4000`. */
  readonly url: string;
  readonly management: string;
  readonly service: string;
  /** Whether GraphiQL and the REST documents are served. */
  readonly hasPages: boolean;
}

/** The text of the first start: the credentials, and addresses that are served. */
export function formatWelcome({ url, management, service, hasPages }: WelcomeOptions): string {
  const here = reachable(url);
  return `
Keyfront listens on ${url}

  Save these two credentials now; they are not shown again:

    management (previews)            ${management}
    service    (organisation keys)   ${service}

${hasPages ? pages(here) : noPages(here)}

  The key API, previewing a definition:

    curl -s ${here}/api/keys/preview \\
      -H 'Authorization: Bearer ${management}' \\
      -H 'Content-Type: application/json' \\
      -d '{"alias":"Billing","org_id":"acme","rate":100,"per":60}'

  The same in GraphQL:

    curl -s ${here}/graphql \\
      -H 'Authorization: Bearer ${management}' \\
      -H 'Content-Type: application/json' \\
      -d '{"query":"{ previewKey(input: {alias: \\"Billing\\", orgID: \\"acme\\", rate: 100, per: 60}) { keyID keyHash } }"}'

`;
}

const pages = (
  here: string,
) => `  GraphiQL:  ${here}/   Paste the credentials under "Headers" and press the play button.
  REST API:  ${here}/docs   Paste the credentials under "Authorize".`;

const noPages = (here: string) => `  OpenAPI:   ${here}/openapi.json
  GraphiQL and the REST documents are off; KEYFRONT_GRAPHIQL=on serves them.`;

/** An address that a client on this machine can open, in place of the one that stands for all addresses. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
