import type { Reporter, TestModule } from 'vitest/node';

/**
 * With `REQUIRE_ALL=1`, fails a run in which tests were skipped because a requirement is missing, such as a server. Their
 * titles contain `(skipped: reason)`. Other skipped tests do not apply to the machine, or to the engine.
 */
export class RequireAll implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const titles = modules.flatMap(({ children }) => [...children.allTests('skipped')].map(({ fullName }) => fullName));
    const missing = new Set(titles.flatMap((title) => /\(skipped: .*?\)/.exec(title)?.[0] ?? []));
    if (missing.size === 0) return;
    process.exitCode = 1;
    console.error(`REQUIRE_ALL is set, and tests were skipped:\n${[...missing].join('\n')}`);
  }
}
