import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, type SuiteFactory } from 'vitest';

/** Whether a program is on the PATH or where Debian installs servers. */
function isInstalled(program: string): boolean {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.some((folder) => existsSync(join(folder, program)));
}

/** A suite that runs a program which npm does not install. Where the program is missing, its title states why it is skipped. */
export function describeWith(program: string, debianPackage: string, title: string, suite: SuiteFactory): void {
  const isMissing = !isInstalled(program);
  const reason = isMissing ? ` (skipped: no ${program}; apt-get install ${debianPackage})` : '';
  describe.skipIf(isMissing)(`${title}${reason}`, suite);
}
