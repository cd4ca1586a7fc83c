// For mutants that no method of a package can make: changes the text of the built program as Node loads it.
import { register } from 'node:module';

/** Replaces what `pattern` matches, which must be in exactly one of the program's files. */
export function rewrite(/** @type {RegExp} */ pattern, /** @type {string} */ replacement) {
  const hooks = `
    const pattern = new RegExp(${JSON.stringify(pattern.source)}, 'g');
    export async function load(url, context, next) {
      const loaded = await next(url, context);
      if (url.includes('node_modules/') && !url.includes('/.cache/')) return loaded;
      if (loaded.format !== 'module' || !url.endsWith('.js')) return loaded;
      const source = Buffer.from(loaded.source).toString();
      const count = source.match(pattern)?.length ?? 0;
      if (count > 1) throw new Error('The mutant matches ' + count + ' places.');
      return { ...loaded, source: source.replace(pattern, ${JSON.stringify(replacement)}) };
    }`;
  register(`data:text/javascript,${encodeURIComponent(hooks)}`);
}
