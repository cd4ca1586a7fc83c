import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { KeyView } from './key/key-view.js';
import { KeysView } from './keys/keys-view.js';
import { PreviewView } from './preview/preview-view.js';
import { Link, useAddress } from './router.js';
import { SessionProvider, useSession, type Kind } from './session.js';
import { SignIn } from './sign-in.js';
import { text } from './strings.js';

/** The console: its frame, and the view that the address names. */
export function App() {
  return (
    <SessionProvider>
      <Frame />
    </SessionProvider>
  );
}

function Frame() {
  const { pathname } = useAddress();
  const isPreview = pathname === '/console/preview';
  return (
    <>
      <a class="skip" href="#main">
        {text.skip}
      </a>
      <header class="frame">
        <strong>{text.product}</strong>
        <nav aria-label={text.views}>
          <Link to="/console" current={!isPreview}>
            {text.keys.title}
          </Link>
          <Link to="/console/preview" current={isPreview}>
            {text.preview.title}
          </Link>
        </nav>
        <SignOut />
      </header>
      <main id="main" tabIndex={-1}>
        <View pathname={pathname} />
      </main>
    </>
  );
}

function SignOut() {
  const { clients, signOut } = useSession();
  if (Object.keys(clients).length === 0) return null;
  return (
    <button type="button" class="quiet" onClick={signOut}>
      {text.signIn.signOut}
    </button>
  );
}

function View({ pathname }: { readonly pathname: string }) {
  const keyHash = /^\/console\/keys\/([^/]+)$/.exec(pathname)?.[1];
  const title =
    keyHash !== undefined ? text.key.title : pathname === '/console/preview' ? text.preview.title : text.keys.title;
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${title} – ${text.product}`;
    // A screen reader continues at the heading of the new view.
    if (!isFirst.current) heading.current?.focus();
    isFirst.current = false;
  }, [pathname]);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {keyHash !== undefined ? (
        <With kind="service">
          <KeyView key={keyHash} keyHash={decodeURIComponent(keyHash)} />
        </With>
      ) : pathname === '/console/preview' ? (
        <With kind="management">
          <PreviewView />
        </With>
      ) : (
        <With kind="service">
          <KeysView />
        </With>
      )}
    </>
  );
}

/** Shows a view if its credential is present, otherwise the sign-in form. */
function With({ kind, children }: { readonly kind: Kind; readonly children: ComponentChildren }) {
  const { clients } = useSession();
  return clients[kind] ? <>{children}</> : <SignIn kind={kind} />;
}
