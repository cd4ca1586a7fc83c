// Replaces modules of the compiled service: `BENCH_WITHOUT=name,name node --import …/without/hooks.mjs build/main.js serve`.
// A replacement re-exports its module, and overrides some of its exports.
import { registerHooks } from 'node:module';
import { replacements } from './replacements.mjs';

const urlOf = (/** @type {string} */ path) => new URL(path, import.meta.url).href;
const names = process.env.BENCH_WITHOUT?.split(',').filter(Boolean) ?? [];
const replaced = new Map(
  names
    .flatMap((name) => replacements[name] ?? [])
    .map(({ module, by }) => [urlOf(`../../../build/${module}`), urlOf(by)]),
);
const own = new Set(replaced.values());
const unused = new Set(replaced.keys());

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const by = own.has(context.parentURL ?? '') ? undefined : replaced.get(resolved.url);
    if (by === undefined) return resolved;
    unused.delete(resolved.url);
    return { ...resolved, url: by };
  },
});

process.on('exit', () => {
  if (unused.size > 0) console.error(`Never imported, so never replaced: ${[...unused].join(', ')}`);
});
