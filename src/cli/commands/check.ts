import type { IO } from '../io.js';
import { withServices } from '../key-client/open.js';
import { verifyInstallation } from '../output/problems.js';
import { createProgressLine } from '../output/progress.js';

/** Verifies the database file, every row, history and sealed secret. Opens read-only and changes nothing. */
export async function check(io: IO): Promise<number> {
  return withServices(io, { access: 'read' }, async (installation) => {
    const progress = createProgressLine(io, 'keys');
    const { keys, problems } = await verifyInstallation(installation, progress.show);
    progress.end();
    for (const problem of problems) io.stderr(`${problem}\n`);
    io.stderr(
      problems.length === 0
        ? `${keys} keys, all as they were written.\n`
        : `${problems.length} problems in ${keys} keys.\n`,
    );
    return problems.length === 0 ? 0 : 1;
  });
}
