/** Nothing but our own files, and no code or style inside the page. */
export const docsPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page of the REST documents. */
export const docsHTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Keyfront key API</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="stylesheet" href="/docs/page.css" />
    <script src="/docs/swagger-ui-bundle.js" defer></script>
    <script src="/docs/page.js" defer></script>
  </head>
  <body>
    <form id="door" hidden>
      <label for="credential">This service shows its documents to holders of a credential.</label>
      <input id="credential" type="password" autocomplete="off" placeholder="kf_mgt_ or kf_svc_" />
      <button>Show</button>
      <p id="refusal" role="alert"></p>
    </form>
    <noscript>This page needs JavaScript. The document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
    <main id="documents"></main>
  </body>
</html>
`;

/** The little style that the page has of its own. */
export const docsStyle = `body { margin: 0; font-family: sans-serif; }
#door { max-width: 40rem; margin: 4rem auto; padding: 0 1rem; }
#door label { display: block; margin-bottom: 0.5rem; }
#door input { width: 24rem; max-width: 70%; padding: 0.4rem; }
#door button { padding: 0.4rem 1rem; }
#refusal { color: #b00020; }
`;

/**
 * Starts the page. Credentials live in its memory and end with it; integers beyond 2^53 are shown with all their
 * digits, where the package would round those of an answer for display.
 */
export const docsScript = `'use strict';

const door = document.querySelector('#door');
const refusal = document.querySelector('#refusal');

/** What a credential is sent as, and which scheme of the document it belongs to. */
function doorOf(credential) {
  return credential.startsWith('kf_svc_')
    ? { scheme: 'service', headers: { 'X-Svc-Authorization': credential } }
    : { scheme: 'management', headers: { Authorization: 'Bearer ' + credential } };
}

/** JSON with line breaks, and every integer as it came. */
function exactly(json) {
  const tokens = /"(?:[^"\\\\]|\\\\.)*"|-?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?/g;
  const marked = json.replace(tokens, (token) => (/^-?\\d{16,}$/.test(token) ? '"\\\\u0000' + token + '"' : token));
  return JSON.stringify(JSON.parse(marked), null, 2).replace(/"\\\\u0000(-?\\d+)"/g, '$1');
}

const exactAnswers = {
  wrapComponents: {
    responseBody: (Original, { React }) => (props) => {
      let more = {};
      try {
        const content = exactly(props.content);
        const isRounded = content !== JSON.stringify(JSON.parse(props.content), null, 2);
        if (isRounded) more = { content, contentType: 'text/plain' };
      } catch {
        // No JSON is shown as it is.
      }
      return React.createElement(Original, { ...props, ...more });
    },
  },
};

async function show(credential) {
  const { scheme, headers } = credential ? doorOf(credential) : { headers: {} };
  const answer = await fetch('/openapi.json', { headers, credentials: 'omit' });
  if (!answer.ok) {
    door.hidden = false;
    if (credential || answer.status !== 401) refusal.textContent = (await answer.json()).message;
    return;
  }
  door.remove();
  const ui = SwaggerUIBundle({
    spec: await answer.json(),
    dom_id: '#documents',
    plugins: [exactAnswers],
    validatorUrl: null,
    persistAuthorization: false,
    deepLinking: true,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    onComplete: () => {
      if (credential) ui.preauthorizeApiKey(scheme, credential);
    },
  });
}

door.addEventListener('submit', (event) => {
  event.preventDefault();
  refusal.textContent = '';
  void show(document.querySelector('#credential').value.trim());
});
void show();
`;
