import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const previewExample = `# Checks and normalises a key definition. Nothing is stored.
# Needs a management credential: put it into "Authorization" under Headers below.
query Preview {
  previewKey(
    input: {
      alias: "Billing, production"
      orgID: "acme"
      rate: 100
      per: 60
      quotaMax: 10000
      quotaRenewalRate: 2592000
      tags: ["billing", "production"]
      accessRights: [{ label: "invoices", apiID: "invoices", versions: ["Default"] }]
    }
  ) {
    keyID
    keyHash
    data { alias orgID rate per quotaMax tags accessRights { label apiID versions } }
    warnings { path code message }
  }
}
`;

const updateExample = `# Replaces the definition of a key and resets its quota.
# Needs a service credential: put it into "X-Svc-Authorization" under Headers below.
# The key "acme-billing" is there when the service was started with: npm start -- --sample
mutation Update {
  updateOrgKey(
    keyID: "acme-billing"
    input: { alias: "Billing, production", rate: 200, per: 60, quotaMax: 20000, quotaRenewalRate: 2592000 }
    resetQuota: true
  ) {
    action
    status
    keyHash
    version
    definition { alias quotaMax quotaRemaining quotaRenews lastUpdated }
    warnings { path code message }
  }
}
`;

// Latin letters only: a browser sends no other header, and the first request would fail for a mere ellipsis.
const headers = JSON.stringify({ Authorization: 'Bearer kf_mgt_', 'X-Svc-Authorization': 'kf_svc_' }, null, 2);

const securityPolicy = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' blob: data:",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  'font-src data:',
  'worker-src blob: data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Page {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly compressed: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

let page: Promise<Page> | undefined;

/** Nine megabytes of HTML with everything in it, so that no other host is ever asked. Made on first use and kept. */
async function makePage(): Promise<Page> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const tabs = [
    { query: previewExample, headers },
    { query: updateExample, headers },
  ];
  const html = renderGraphiQL({
    title: 'Keyfront',
    endpoint: '/graphql',
    defaultTabs: tabs,
    defaultHeaders: headers,
    isHeadersEditorEnabled: true,
    defaultEditorToolsVisibility: 'headers',
    shouldPersistHeaders: false,
    inputValueDeprecation: true,
    schemaDescription: true,
  });
  const body = new TextEncoder().encode(html);
  const compressed = new Uint8Array(await promisify(gzip)(body));
  return { body, compressed, etag: `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"` };
}

/** Answers with the GraphiQL page, compressed where the browser takes it. */
export async function serveGraphiQL(request: Request): Promise<Response> {
  page ??= makePage();
  const { body, compressed, etag } = await page;
  const shared = { etag, 'cache-control': 'no-cache', vary: 'accept-encoding' };
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers: shared });
  const takesGzip = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '');
  return new Response(takesGzip ? compressed : body, {
    headers: {
      ...shared,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': securityPolicy,
      'referrer-policy': 'no-referrer',
      ...(takesGzip && { 'content-encoding': 'gzip' }),
    },
  });
}
