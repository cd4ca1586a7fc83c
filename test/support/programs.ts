import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, type SuiteFactory } from 'vitest';

/** Whether a program is on the PATH or where Debian installs servers. */
function isInstalled(program: string): boolean {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.some((folder) => existsSync(join(folder, program)));
}

/**
 * A suite that runs a program which npm does not install. Where the program is missing, it is skipped with the reason in its
 * title, except in CI: there it runs, and fails.
 */
export function describeWith(program: string, debianPackage: string, title: string, suite: SuiteFactory): void {
  const isSkipped = !isInstalled(program) && process.env['CI'] === undefined;
  const reason = isSkipped ? ` (skipped: no ${program}; apt-get install ${debianPackage})` : '';
  describe.skipIf(isSkipped)(`${title}${reason}`, suite);
}
