import type { IO } from '../io.js';
import { withInstallation } from '../key-client/open.js';
import { inspect } from '../output/problems.js';
import { createProgress } from '../output/progress.js';

/** Verifies the database file, every row, history and sealed secret. Opens read-only and changes nothing. */
export async function check(io: IO): Promise<number> {
  return withInstallation(io, { access: 'read' }, async (installation) => {
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
