import { placeOf } from '../keys/keep-secrets.js';
import { createProgress, type IO } from './io.js';
import { withInstallation } from './open.js';

/** Looks whether the database is whole: the file, the history of every key, and every sealed secret. Changes nothing. */
export async function check(io: IO): Promise<number> {
  return withInstallation(io, async ({ store, sealer, damages }) => {
    const problems = damages();
    const report = (problem: string) => problems.push(problem);
    for await (const keyHash of store.brokenHistories()) report(`The history of ${keyHash} is not what was written.`);

    const progress = createProgress(io, 'keys');
    let count = 0;
    for await (const { keyHash, sealedKeyID, secrets } of store.all()) {
      const sealed = { keyID: sealedKeyID, jwtSecret: secrets.jwtSecret, hmacString: secrets.hmacString };
      for (const name of ['keyID', 'jwtSecret', 'hmacString'] as const) {
        try {
          if (sealed[name]) sealer.open(sealed[name], placeOf(keyHash, name));
        } catch {
          report(`The ${name} of ${keyHash} does not open.`);
        }
      }
      count += 1;
      progress.show(count);
    }
    progress.end();
    for (const problem of problems) io.say(`${problem}\n`);
    io.say(
      problems.length === 0
        ? `${count} keys, all as they were written.\n`
        : `${problems.length} problems in ${count} keys.\n`,
    );
    return problems.length === 0 ? 0 : 1;
  });
}
