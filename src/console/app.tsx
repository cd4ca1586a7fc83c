import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { KeyView } from './key/key-view.js';
import { KeysView } from './keys/keys-view.js';
import { OtherPages } from './parts/other-pages.js';
import { QuietButton } from './parts/quiet-button.js';
import { PreviewView } from './preview/preview-view.js';
import { Link, useAddress } from './router.js';
import { SessionProvider, useSession, type Kind } from './session.js';
import { SignIn } from './sign-in.js';
import { text } from './strings.js';

/** The console: its header, and the view that the address names. */
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
          <OtherPages />
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
  return <QuietButton onClick={signOut}>{text.signIn.signOut}</QuietButton>;
}

function View({ pathname }: { readonly pathname: string }) {
  const { clients, isRejected } = useSession();
  const { title, kind, view } = viewAt(pathname);
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
      {clients[kind] ? view : <SignIn key={kind} kind={kind} />}
      {isRejected(kind) && <SignInAgain kind={kind} />}
    </>
  );
}

/** The sign-in form in a dialog, behind which the view keeps its state, such as a form with unsaved changes. */
function SignInAgain({ kind }: { readonly kind: Kind }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const show = () => dialog.current?.showModal();
  useEffect(show, []);
  return (
    <dialog ref={dialog} aria-label={text.signIn.title} onClose={show}>
      <SignIn kind={kind} />
      <SignOut />
    </dialog>
  );
}

/** The view of an address, and the kind of the credential that it needs. */
function viewAt(pathname: string): { readonly title: string; readonly kind: Kind; readonly view: VNode } {
  const keyHash = /^\/console\/keys\/([^/]+)$/.exec(pathname)?.[1];
  if (keyHash !== undefined) {
    const view = <KeyView key={keyHash} keyHash={keyHash} />;
    return { title: text.key.title, kind: 'service', view };
  }
  return pathname === '/console/preview'
    ? { title: text.preview.title, kind: 'management', view: <PreviewView /> }
    : { title: text.keys.title, kind: 'service', view: <KeysView /> };
}
