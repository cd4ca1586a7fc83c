import { hiddenCredentials } from './credential-inputs.js';
import { exactResponses } from './exact-responses.js';

function element<T extends HTMLElement>(selector: string): T {
  const found = document.querySelector<T>(selector);
  if (found === null) throw new Error(`The page has no element ${selector}.`);
  return found;
}

/** The security scheme of a credential in the OpenAPI document, and the headers that send it. */
function schemeOf(credential: string): { scheme: string; headers: Record<string, string> } {
  return credential.startsWith('kf_svc_')
    ? { scheme: 'service', headers: { 'X-Svc-Authorization': credential } }
    : { scheme: 'management', headers: { Authorization: `Bearer ${credential}` } };
}

/** Follows the color scheme of the system. This class selects the dark scheme of Swagger UI. */
function followColorScheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => void document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', apply);
  apply();
}

/** Shows the document, or the form if it requires a credential. The credential is kept in memory only. */
async function show(credential: string | undefined): Promise<void> {
  const authorization = credential === undefined ? undefined : schemeOf(credential);
  const response = await fetch('/openapi.json', { headers: authorization?.headers ?? {}, credentials: 'omit' });
  const form = element('#credential-form');
  if (!response.ok) {
    form.hidden = false;
    const isFirst401 = credential === undefined && response.status === 401;
    if (!isFirst401)
      element('#credential-error').textContent = ((await response.json()) as { message: string }).message;
    return;
  }
  form.remove();
  const ui = SwaggerUIBundle({
    spec: (await response.json()) as object,
    dom_id: '#documents',
    plugins: [exactResponses, hiddenCredentials],
    validatorUrl: null,
    persistAuthorization: false,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    onComplete: () => {
      if (authorization && credential) ui.preauthorizeApiKey(authorization.scheme, credential);
    },
  });
}

element('#credential-form').addEventListener('submit', (event) => {
  event.preventDefault();
  element('#credential-error').textContent = '';
  void show(element<HTMLInputElement>('#credential').value.trim() || undefined);
});
followColorScheme();
// The console has a setting of its own.
fetch('/console', { method: 'HEAD' }).then(
  ({ ok }) => element('#console-link').toggleAttribute('hidden', !ok),
  () => undefined,
);
void show(undefined);
