import type { IO } from './io.js';
import { withInstallation } from './open.js';
import { inspect } from './problems.js';
import { createProgress } from './progress.js';

/** Looks whether everything is as it was written: the file, rows, histories and sealed secrets. Changes nothing. */
export async function check(io: IO): Promise<number> {
  return withInstallation(io, async (installation) => {
    const progress = createProgress(io, 'keys');
    const { keys, problems } = await inspect(installation, progress.show);
    progress.end();
    for (const problem of problems) io.say(`${problem}\n`);
    io.say(
      problems.length === 0
        ? `${keys} keys, all as they were written.\n`
        : `${problems.length} problems in ${keys} keys.\n`,
    );
    return problems.length === 0 ? 0 : 1;
  });
}
