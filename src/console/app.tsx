import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Account } from './account.js';
import { ConnectionBanner, LiveState } from './connection-banner.js';
import { pageAt, type Page, type Section } from './pages.js';
import { Button } from './parts/button.js';
import { closeDialog, Dialog } from './parts/dialog.js';
import { PageHead } from './parts/page-head.js';
import { Link, useAddress } from './router.js';
import { SessionProvider, useSession, type ConsoleSession, type Kind } from './session.js';
import { SignIn } from './sign-in.js';
import { text } from './strings.js';
import { useShortcuts } from './use-shortcuts.js';

/** The console: its header, and the page that the address names. */
export function App() {
  return (
    <SessionProvider>
      <Frame />
    </SessionProvider>
  );
}

const addresses: Readonly<Record<Section, string>> = {
  keys: '/console',
  policies: '/console/policies',
  organizations: '/console/organizations',
  gateways: '/console/gateways',
  proposals: '/console/proposals',
  changes: '/console/changes',
  credentials: '/console/credentials',
  webhooks: '/console/webhooks',
  preview: '/console/preview',
};

function Frame() {
  const { pathname } = useAddress();
  const page = pageAt(pathname);
  const { can } = useSession();
  const permitted = Object.entries(addresses).filter(([, address]) => isPermitted(pageAt(address), can));
  const [isHelp, setIsHelp] = useState(false);
  useShortcuts({ '?': () => setIsHelp(true) });
  return (
    <>
      <a class="skip" href="#main">
        {text.skip}
      </a>
      <header class="top">
        <Link to="/console" class="product">
          {text.product}
        </Link>
        <nav aria-label={text.pages}>
          {permitted.map(([section, address]) => (
            <Link key={section} to={address} current={section === page.section}>
              {text.nav[section as Section]}
            </Link>
          ))}
        </nav>
        <LiveState />
        <Account onShortcuts={() => setIsHelp(true)} />
      </header>
      <ConnectionBanner />
      <main id="main" tabIndex={-1}>
        <SignedIn key={page.id} page={page} />
      </main>
      {isHelp && <Shortcuts onClose={() => setIsHelp(false)} />}
    </>
  );
}

function isPermitted({ scope }: Page, can: ConsoleSession['can']): boolean {
  return scope === undefined || can(scope);
}

/** The page, or the form to sign in. After a rejection the form is in a dialog, and the page keeps its state. */
function SignedIn({ page }: { readonly page: Page }) {
  const { clients, isRejected, can } = useSession();
  const { kind } = page;
  // The script of the page arrives while the user signs in. `LoadedPage` shows an error of it.
  useEffect(() => void page.load().catch(() => undefined), []);
  if (!clients[kind]) {
    return (
      <>
        <Heading>{text.nav[page.section]}</Heading>
        <SignIn key={kind} kind={kind} />
      </>
    );
  }
  if (!isPermitted(page, can)) {
    return (
      <PageHead title={text.nav[page.section]}>
        {page.scope !== undefined && text.notPermitted(page.scope.toLowerCase())}
      </PageHead>
    );
  }
  return (
    <>
      <LoadedPage page={page} />
      {isRejected(kind) && <SignInAgain kind={kind} />}
    </>
  );
}

/** A heading that only a screen reader needs, while the page has none of its own. */
function Heading({ children }: { readonly children: string }) {
  return <h1 class="unseen">{children}</h1>;
}

/** Loads the script of a page and shows it. */
function LoadedPage({ page }: { readonly page: Page }) {
  const [View, setView] = useState<ComponentType>();
  const [isFailed, setIsFailed] = useState(false);
  const isOpen = useRef(true);
  useLayoutEffect(() => {
    isOpen.current = true;
    page.load().then(
      (loaded) => isOpen.current && setView(() => loaded),
      () => isOpen.current && setIsFailed(true),
    );
    return () => {
      isOpen.current = false;
    };
  }, []);
  useEffect(() => {
    // A screen reader continues at the heading of the new page.
    if (View) document.querySelector<HTMLElement>('main h1')?.focus();
  }, [View]);
  if (View) return <View />;
  if (!isFailed) return <Heading>{text.loading}</Heading>;
  return (
    <div class="panel empty" role="alert">
      <h1>{text.outdated.title}</h1>
      <p>{text.outdated.explanation}</p>
      <Button class="primary" onClick={() => location.reload()}>
        {text.outdated.reload}
      </Button>
    </div>
  );
}

/** The sign-in form in a dialog, behind which the page keeps its state, such as a form with unsaved changes. */
function SignInAgain({ kind }: { readonly kind: Kind }) {
  const { signOut } = useSession();
  const dialog = useRef<HTMLDialogElement>(null);
  const show = () => dialog.current?.showModal();
  useEffect(show, []);
  return (
    <dialog ref={dialog} aria-label={text.signIn.title} onClose={show}>
      <SignIn kind={kind} />
      <button type="button" class="quiet" onClick={signOut}>
        {text.signIn.signOut}
      </button>
    </dialog>
  );
}

function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={text.shortcuts.title} onClose={onClose}>
      <dl class="shortcuts">
        {text.shortcuts.keys.map(([keys, meaning]) => (
          <>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </>
        ))}
      </dl>
      <Button onClick={closeDialog}>{text.close}</Button>
    </Dialog>
  );
}
