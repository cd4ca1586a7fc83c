import { useEffect, useRef, useState } from 'preact/hooks';
import type { KeyfrontError } from '../client/client.js';
import type { SignOnProblem, SignOnSettings } from '../http/sign-on/browser/sign-on.js';
import { Problem } from './parts/problem.js';
import { useSession, type Kind } from './session.js';
import { toKeyfrontError } from './results.js';
import { text } from './strings.js';

const content = document.querySelector<HTMLMetaElement>('meta[name=sign-on]')?.content ?? '';
/** Undefined if sign-on in browsers is not configured. */
const settings = content === '' ? undefined : (JSON.parse(content) as SignOnSettings);

const load = () => import('../http/sign-on/browser/sign-on.js');

type State =
  | { readonly kind: 'ready' }
  | { readonly kind: 'waiting'; readonly stop: () => void }
  | { readonly kind: 'failed'; readonly problem: SignOnProblem | 'blocked'; readonly detail: string }
  | { readonly kind: 'refused'; readonly error: KeyfrontError };

/** Signs a person on at the issuer, in another window. The page stays as it is. Renders nothing if that is not configured. */
export function SignOn({ kind }: { readonly kind: Kind }) {
  const session = useSession();
  const [state, setState] = useState<State>({ kind: 'ready' });
  const controller = useRef<AbortController | undefined>(undefined);
  useEffect(() => {
    // Loaded before it is needed, because a browser opens a window only right after a click.
    if (settings?.endpoints) load().catch(() => undefined);
    return () => controller.current?.abort();
  }, []);
  if (!settings) return null;
  const start = async (): Promise<void> => {
    const popup = window.open('about:blank', '_blank', 'popup,width=520,height=680');
    if (!popup) return setState({ kind: 'failed', problem: 'blocked', detail: '' });
    const { signal } = (controller.current = new AbortController());
    const stop = () => {
      controller.current?.abort();
      popup.close();
      setState({ kind: 'ready' });
    };
    setState({ kind: 'waiting', stop });
    const { signOn, SignOnError } = await load();
    try {
      await session.signOn(kind, await signOn(settings, popup, signal), signal);
    } catch (error) {
      if (signal.aborted) return;
      popup.close();
      if (error instanceof SignOnError) setState({ kind: 'failed', problem: error.problem, detail: error.detail });
      else setState({ kind: 'refused', error: toKeyfrontError(error) });
    }
  };
  const host = URL.parse(settings.issuer)?.host ?? settings.issuer;
  return (
    <div class="stack">
      {state.kind === 'waiting' ? (
        <p role="status">
          {text.signOn.waiting(host)}{' '}
          <button type="button" onClick={state.stop}>
            {text.signOn.cancel}
          </button>
        </p>
      ) : (
        <button type="button" class="primary" disabled={!settings.endpoints} onClick={() => void start()}>
          {text.signOn.start(host)}
        </button>
      )}
      {!settings.endpoints && <p class="issue">{text.signOn.unavailable(host)}</p>}
      {state.kind === 'failed' && (
        <p class="issue" role="alert">
          {text.signOn.problems[state.problem](host)} {state.detail !== '' && <code>{state.detail}</code>}
        </p>
      )}
      {state.kind === 'refused' && <Problem error={state.error} />}
      <small>{text.signOn.or}</small>
    </div>
  );
}
