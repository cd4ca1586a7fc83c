import type * as signOnModule from '../../../http/sign-on/browser/sign-on.js';
import type { SignedOn, SignOnSettings } from '../../../http/sign-on/browser/sign-on.js';

/** A file of its own, which is loaded only if sign-on is configured. */
const moduleURL: string = '/graphiql/sign-on.js';

/** Shows the button with which a person signs on and out, if that is configured. `onChange` gets the person, undefined for none. */
export function showSignOn(onChange: (person: SignedOn | undefined) => void): void {
  const content = document.querySelector<HTMLMetaElement>('meta[name=sign-on]')?.content ?? '';
  const place = document.querySelector('#sign-on');
  const button = place?.querySelector('button');
  const output = place?.querySelector('output');
  if (content === '' || !place || !button || !output) return;
  const settings = JSON.parse(content) as SignOnSettings;
  const host = new URL(settings.issuer).host;
  let person: SignedOn | undefined;
  let waiting: AbortController | undefined;
  const show = (label: string, message = '') => {
    button.textContent = label;
    output.textContent = message;
  };
  const signOut = (message?: string) => {
    void person?.signOut();
    person = undefined;
    onChange(undefined);
    show(`Sign on with ${host}`, message);
  };
  const signOn = async () => {
    const popup = window.open('about:blank', '_blank', 'popup,width=520,height=680');
    if (!popup) return show(`Sign on with ${host}`, 'The browser has blocked the window.');
    const { signal } = (waiting = new AbortController());
    show('Cancel', `Continue in the window of ${host}.`);
    const { signOn: start, SignOnError } = (await import(moduleURL)) as typeof signOnModule;
    try {
      const signedOn = await start(settings, popup, signal);
      person = signedOn;
      onChange(person);
      show('Sign out');
      void signedOn.ended.then(() => {
        if (person === signedOn) signOut('Your sign-on has expired.');
      });
    } catch (error) {
      popup.close();
      const code = error instanceof SignOnError ? ` (${error.problem}${error.detail && `: ${error.detail}`})` : '';
      show(`Sign on with ${host}`, signal.aborted ? '' : `The sign-on failed${code}.`);
    } finally {
      waiting = undefined;
    }
  };
  button.addEventListener('click', () => {
    if (waiting) waiting.abort();
    else if (person) signOut();
    else void signOn();
  });
  place.removeAttribute('hidden');
  show(`Sign on with ${host}`);
  if (settings.endpoints) return;
  button.disabled = true;
  show(`Sign on with ${host}`, `${host} does not respond. Reload the page to try again.`);
}
