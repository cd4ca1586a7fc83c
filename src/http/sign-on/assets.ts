import type { SignOn } from '../../credentials/sign-on.js';
import { browserFile, pageHeaders, type PageAsset, type StaticAsset } from '../static-asset.js';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '"': '&quot;', '<': '&lt;' };

/** Sets the content of an empty `meta` element of a page. */
export function setMeta(html: string, name: string, content: string): string {
  const escaped = content.replace(/[&"<]/g, (character) => escapes[character] ?? '');
  return html.replace(`name="${name}" content=""`, () => `name="${name}" content="${escaped}"`);
}

/**
 * Returns a page on which people can sign on. It contains the endpoints of the issuer, and its policy permits requests to their
 * origins and to no other.
 *
 * @param sources - of the content security policy, without `connect-src`
 * @param signOn - undefined if sign-on in browsers is not configured
 */
export function signOnPage(
  file: string,
  sources: Readonly<Record<string, string>>,
  signOn: SignOn | undefined,
  edit: (html: string) => string = (html) => html,
): PageAsset {
  const pageOf = (settings: string, origins: readonly string[]) =>
    browserFile(file, pageHeaders({ ...sources, 'connect-src': ["'self'", ...origins].join(' ') }), (html) =>
      setMeta(edit(html), 'sign-on', settings),
    );
  if (!signOn) return pageOf('', []);
  let last: { readonly settings: string; readonly page: StaticAsset } | undefined;
  return async () => {
    const { settings, origins } = await signOn();
    if (last?.settings !== settings) last = { settings, page: pageOf(settings, origins) };
    return last.page;
  };
}

/** The files of the page to which the issuer returns people, by path. It hands the response to the page that started the sign-on. */
export function signOnAssets(): ReadonlyMap<string, StaticAsset> {
  const headers = pageHeaders({});
  return new Map([
    ['/sign-on', browserFile('sign-on/page.html', headers)],
    ['/sign-on/page.js', browserFile('sign-on/page.js')],
  ]);
}
