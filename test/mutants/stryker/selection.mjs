import { createHash } from 'node:crypto';
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';

/**
 * Selects mutants, by the interface for type checkers: a pattern of lines and columns would also select the mutants inside.
 * `STRYKER_ONLY` lists their identifiers; otherwise `STRYKER_SHARE=0.1 STRYKER_SEED=2` selects a tenth at random.
 */
class Selection {
  #only = process.env.STRYKER_ONLY && new Set(process.env.STRYKER_ONLY.split(','));
  #share = Number(process.env.STRYKER_SHARE ?? 1);
  #seed = process.env.STRYKER_SEED ?? '1';

  async init() {
    // Nothing to prepare.
  }

  async group(mutants) {
    return [mutants.map(({ id }) => id)];
  }

  async check(mutants) {
    const skipped = { status: 'compileError', reason: 'not selected' };
    return Object.fromEntries(mutants.map(({ id }) => [id, this.#has(id) ? { status: 'passed' } : skipped]));
  }

  #has(id) {
    if (this.#only) return this.#only.has(id);
    const random = createHash('sha256').update(`${this.#seed} ${id}`).digest().readUInt32BE() / 2 ** 32;
    return random < this.#share;
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.Checker, 'selection', Selection)];
