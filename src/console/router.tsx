import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

/** What is asked before unsaved changes are left. */
const leaveQuestion = 'The changes are not saved. Leave the form without them?';

/** Opens a view of the console without loading the page again. */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  dispatchEvent(new PopStateEvent('popstate'));
}

/** Parameters of an address. It does not have those that are undefined. */
export type AddressParameters = Readonly<Record<string, string | undefined>>;

/** Returns the address of a view with these parameters. */
export function addressWith(path: string, parameters: AddressParameters): string {
  const given = Object.entries(parameters).filter((one): one is [string, string] => one[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** Returns the address of the page, and renders again when it changes, from the first layout on. */
export function useAddress(): URL {
  const [href, setHref] = useState(location.href);
  useLayoutEffect(() => {
    const update = () => setHref(location.href);
    addEventListener('popstate', update);
    return () => removeEventListener('popstate', update);
  }, []);
  return new URL(href);
}

/** While changes are unsaved, warns before a reload and, with the Navigation API, before any navigation. */
export function useUnsavedWarning(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return undefined;
    const onNavigate = (event: NavigateEvent) => {
      if (event.cancelable && event.destination.sameDocument && !confirm(leaveQuestion)) event.preventDefault();
    };
    const controller = new AbortController();
    addEventListener('beforeunload', (event) => event.preventDefault(), controller);
    if ('navigation' in globalThis) navigation.addEventListener('navigate', onNavigate, controller);
    return () => controller.abort();
  }, [isUnsaved]);
}

interface LinkProps {
  readonly to: string;
  readonly current?: boolean;
  readonly class?: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** A link to a view of the console. With a modifier key, it behaves like any other link. */
export function Link({ to, current = false, class: className, title, children }: LinkProps) {
  const onClick = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
    scrollTo(0, 0);
  };
  return (
    <a href={to} onClick={onClick} class={className} title={title} aria-current={current ? 'page' : undefined}>
      {children}
    </a>
  );
}
