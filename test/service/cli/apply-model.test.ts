import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { jsonLines, makeOwnCommandLine, serveFolder } from '../../support/cli.js';
import { temporaryFolder } from '../../support/folder.js';
import { createRandom, runs, seed } from '../../support/generated.js';

const ids = ['k0', 'k1', 'k2', 'k3'];
const definitions = [
  { alias: 'First', rate: 1, per: 1 },
  { alias: 'Second', quota_max: 10, quota_renewal_rate: 60, quota_remaining: 3 },
  { alias: 'Third', tags: ['a'], access_rights: { x: { api_id: 'x' } } },
  { alias: 'Fourth', hmac_string: 'hidden' },
];

type Action = 'create' | 'update' | 'restore' | 'delete';

it.each(['the data folder', 'a service'])(
  `apply carries out its plan for every state of ${'%s'}, and the plan is then empty (FUZZ_SEED=${seed})`,
  async (place) => {
    const c = await makeOwnCommandLine();
    await c.create();
    const folder = await temporaryFolder();
    const service = place === 'a service' ? await serveFolder(c) : undefined;
    const env = service?.env ?? {};
    const random = createRandom(seed);
    const apply = async (...options: string[]) => {
      const outcome = await c.keyfront(['apply', folder, '--org', 'acme', '--prune', '--json', ...options], env);
      return {
        ...outcome,
        actions: jsonLines(outcome.out).map(({ alias, action }) => `${String(action)} ${String(alias)}`),
      };
    };
    /** The definitions in the folder, in the installation, and of deleted keys. */
    const files = new Map<string, number>();
    const stored = new Map<string, number>();
    const deleted = new Map<string, number>();
    await writeFile(join(folder, 'always.yaml'), 'key_id: always\norg_id: acme\nalias: Always\n');
    const write = async (id: string, index: number) => {
      files.set(id, index);
      await writeFile(
        join(folder, `${id}.json`),
        JSON.stringify({ key_id: id, org_id: 'acme', ...definitions[index] }),
      );
    };
    const remove = async (id: string) => {
      files.delete(id);
      await rm(join(folder, `${id}.json`), { force: true });
    };
    await apply();
    for (let round = 0; round < runs('APPLY_RUNS', 12); round += 1) {
      // A service compares the secrets of a key ten times a minute.
      const clock = service?.server.t.clock;
      if (clock) clock.now = new Date(clock.now.getTime() + 61_000);
      for (let step = 0; step < 3; step += 1) {
        const id = random.pick(ids);
        const { below } = random;
        // Create or edit, remove, or revert the file to what is stored; or a person deletes the key.
        await random.pick([
          () => write(id, below(definitions.length)),
          () => remove(id),
          async () => {
            const index = stored.get(id) ?? deleted.get(id);
            if (index !== undefined) await write(id, index);
          },
          async () => {
            const index = stored.get(id);
            if (index === undefined) return;
            expect((await c.keyfront(['delete', id, '--yes'], env)).code).toBe(0);
            stored.delete(id);
            deleted.set(id, index);
          },
        ])();
      }
      const expected: string[] = [];
      const expectAction = (action: Action, index: number) =>
        expected.push(`${action} ${definitions[index]?.alias ?? ''}`);
      for (const id of ids) {
        const [file, key, old] = [files.get(id), stored.get(id), deleted.get(id)];
        if (file !== undefined && key === undefined) expectAction(old === undefined ? 'create' : 'restore', file);
        if (file !== undefined && key !== undefined && file !== key) expectAction('update', file);
        if (file === undefined && key !== undefined) expectAction('delete', key);
      }
      const planned = await apply('--plan');
      expect(planned.actions.toSorted()).toStrictEqual(expected.toSorted());
      expect(planned.code).toBe(expected.length > 0 ? 2 : 0);
      const applied = await apply();
      expect([applied.code, applied.actions]).toStrictEqual([0, planned.actions]);
      expect(await apply('--plan')).toMatchObject({ code: 0, out: '' });
      for (const id of ids) {
        const [file, key] = [files.get(id), stored.get(id)];
        if (file === undefined && key !== undefined) deleted.set(id, key);
        if (file === undefined) stored.delete(id);
        else {
          stored.set(id, file);
          deleted.delete(id);
        }
      }
      const list = jsonLines((await c.keyfront(['list', '--json'], env)).out).map(({ alias }) => alias);
      const aliases = [...stored.values()].map((index) => definitions[index]?.alias);
      expect(list.toSorted()).toStrictEqual([...aliases, 'Always'].toSorted());
    }
  },
);
