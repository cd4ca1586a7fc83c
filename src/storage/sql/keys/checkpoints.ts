import { setImmediate as nextIteration } from 'node:timers/promises';
import type { RowSigner } from '../../../crypto/row-signer.js';
import {
  contentOf,
  digestOf,
  mayBePurged,
  pageFromContent,
  pageName,
  pageToContent,
  prefixes,
  prefixOf,
  publishedName,
  purgedName,
  rootName,
  type Checkpoint,
  type KeyHead,
  type KeyRollback,
  type PublishedCheckpoint,
  type PublishedContent,
} from '../../records/checkpoint.js';
import type { HeadRow } from '../../records/head.js';
import { createHeads } from '../heads.js';
import { integrityError, type SignedRow } from '../../records/signed.js';
import { prepared, query, type SqlSession, type Work } from '../session.js';
import { createKeyStates, type ScannedState } from './key-states.js';

/** One checkpoint reads pages until it has read this number of keys or of bytes: some 40 ms of work in parts. */
const minKeysRead = 2_000;
const minBytesRead = 4 * 1024 * 1024;
const comparedAtOnce = 10;

const damaged = () => integrityError('The head of the keys');

/** A checkpoint as it was published outside of the database. */
export type LoggedCheckpoint = Pick<PublishedCheckpoint, 'sequence' | 'digest'>;

/**
 * A difference between the database and its checkpoints. `published`: the chain of published checkpoints is broken.
 * `credentials`: the head of the credentials is older than the checkpoint.
 */
export type CheckpointProblem = KeyRollback | { readonly kind: 'published' } | { readonly kind: 'credentials' };

/** Signed, hash-chained checkpoints of the states of all keys, in the database. They show that older rows were put back. */
export interface Checkpoints {
  /**
   * Verifies the keys of the next pages against the newest checkpoint, and writes one with their states. Rolled-back keys
   * keep their earlier state unless `accept` is set, and so does the head of the credentials. All processes continue one cycle, which is in the checkpoint; steps
   * with `accept` begin at the first page and leave the cycle as it is.
   *
   * @throws {AppError} INTERNAL when a checkpoint fails its integrity check, or is older than one that this process has read.
   */
  advance(options: {
    readonly purgedBefore: Date;
    readonly accept?: boolean;
  }): Promise<{ readonly isEnd: boolean; readonly rollbacks: readonly KeyRollback[] }>;
  /**
   * Appends the newest checkpoint to the published ones; undefined if the last one is recent or nothing has changed.
   * `isClockSetBack`: the clock was ahead when the last one was published.
   */
  publish(
    at: Date,
    minAgeMs: number,
  ): Promise<(PublishedCheckpoint & { readonly isClockSetBack?: boolean }) | undefined>;
  /**
   * Yields differences from the newest checkpoint.
   *
   * @throws {AppError} INTERNAL when a checkpoint fails its integrity check.
   */
  verify(purgedBefore: Date): AsyncIterable<CheckpointProblem>;
  /**
   * Yields the state of every key, ordered by hash.
   *
   * @throws {AppError} INTERNAL when a row fails its integrity check.
   */
  states(): AsyncIterable<KeyHead>;
  /** Returns the keys that are older than these states, or missing. Rows that fail the integrity check are left out. */
  compare(states: readonly KeyHead[]): Promise<KeyRollback[]>;
  /** Returns those that are not among the published checkpoints of the database, whose chain `verify` verifies. */
  findLost(logged: readonly LoggedCheckpoint[]): Promise<readonly LoggedCheckpoint[]>;
}

/**
 * Signed states of all keys, in pages, and one signed row over all pages that contains the digest of the row before it.
 * Each step verifies some of the pages and brings them up to date, so that updates of keys cost nothing more.
 */
export function createCheckpoints(session: SqlSession, signer: RowSigner): Checkpoints {
  const { dialect, all, snapshot, transaction } = session;
  const heads = createHeads(session, signer);
  const { statesFrom, rollbacksOf } = createKeyStates(session, signer);
  const sql = {
    byNames: prepared(`SELECT * FROM heads WHERE name ${dialect.inList('$1', 'text')}`),
    published: prepared(`SELECT * FROM heads WHERE name > 'published.' AND name < 'published.~' ORDER BY name`),
    marks: prepared(`SELECT name FROM heads WHERE name > $1 AND name < $2`),
    remove: prepared(`DELETE FROM heads WHERE name ${dialect.inList('$1', 'text')}`),
  };
  let known = 0n;
  /** The next page to accept. */
  let accepted = 0;

  function verified(row: SignedRow<HeadRow> | undefined): SignedRow<HeadRow> | undefined {
    if (row ? !heads.isAuthentic(row) || row.sequence < known : known > 0n) throw damaged();
    known = row?.sequence ?? known;
    return row;
  }
  function* readRoot(read = heads.read): Work<SignedRow<HeadRow> | undefined> {
    return verified(yield* read(rootName));
  }
  function* readPages(checkpoint: Checkpoint, of: readonly string[]): Work<Map<string, KeyHead[]>> {
    const listed = of.filter((prefix) => checkpoint.pages[prefix] !== undefined);
    const rows = yield* query<SignedRow<HeadRow>>(sql.byNames, [listed.map(pageName)]);
    const found = new Map(rows.map((row) => [row.name, row]));
    return new Map(
      listed.map((prefix) => {
        const page = found.get(pageName(prefix));
        if (!page || !heads.isAuthentic(page) || digestOf(page) !== checkpoint.pages[prefix]) throw damaged();
        return [prefix, pageFromContent(page.content)];
      }),
    );
  }
  /** 0 if the head of the credentials is damaged: a forged sequence would reject all later ones. */
  function* credentialsSequence(): Work<bigint> {
    const row = yield* heads.read('credentials');
    return row && heads.isAuthentic(row) ? row.sequence : 0n;
  }
  function* writeRoot(before: HeadRow, content: Omit<Checkpoint, 'previous'>): Work<void> {
    const sequence = before.sequence + 1n;
    yield* heads.put({
      name: rootName,
      sequence,
      content: JSON.stringify({ ...content, previous: digestOf(before) }),
    });
  }

  /** The states of the keys in the next pages, and the prefixes of these pages. */
  async function readStates(first: number): Promise<{ of: readonly string[]; states: Map<string, ScannedState> }> {
    const states = new Map<string, ScannedState>();
    let end = prefixes.length;
    let bytes = 0;
    for await (const page of statesFrom(prefixes[first] ?? '')) {
      for (const one of page) {
        states.set(one.keyHash, one);
        bytes += Number(one.size);
      }
      const last = page.at(-1);
      if (last === undefined) continue;
      // The page of the last key is incomplete.
      end = prefixes.indexOf(prefixOf(last.keyHash));
      if ((states.size >= minKeysRead || bytes >= minBytesRead) && end > first) break;
      end = prefixes.length;
    }
    return { of: prefixes.slice(first, end), states };
  }

  async function findRollbacks(
    saved: readonly KeyHead[],
    states: ReadonlyMap<string, ScannedState>,
    purgedBefore: Date,
  ) {
    const changed = saved.filter((state) => !isContinued(state, states.get(state.keyHash)));
    const rollbacks = new Map<string, KeyRollback>();
    for (let from = 0; from < changed.length; from += comparedAtOnce) {
      const part = changed.slice(from, from + comparedAtOnce);
      await nextIteration();
      for (const rollback of await snapshot(() => rollbacksOf(part))) {
        if (!mayBePurged(rollback, undefined, purgedBefore)) rollbacks.set(rollback.head.keyHash, rollback);
      }
    }
    return rollbacks;
  }

  /** Writes the pages that have changed, unless another process has written a checkpoint since. */
  function* commit(
    root: HeadRow,
    pages: ReadonlyMap<string, NextPage>,
    { accept, next }: { readonly accept: boolean; readonly next: string | undefined },
  ): Work<boolean> {
    const locked = yield* readRoot(heads.lock);
    if (locked?.sequence !== root.sequence) return false;
    const before = contentOf<Checkpoint>(locked);
    const sequence = yield* credentialsSequence();
    const credentials = accept || sequence > BigInt(before.credentials) ? String(sequence) : before.credentials;
    const digests = { ...before.pages };
    const changed = [...pages].filter(([, { isChanged }]) => isChanged);
    for (const [prefix, { states }] of changed) {
      const page = { name: pageName(prefix), sequence: root.sequence + 1n, content: pageToContent(states) };
      yield* heads.put(page);
      digests[prefix] = digestOf(page);
    }
    const of = [...pages.keys()];
    const marks = yield* query<{ name: string }>(sql.marks, [`purged.${of[0] ?? ''}`, `purged.${of.at(-1) ?? ''}~`]);
    // A key that was purged since its page was read.
    const kept = new Set([...pages.values()].flatMap(({ states }) => states.map(purgedName)));
    const unused = marks.filter(({ name }) => !kept.has(name));
    if (unused.length > 0) yield* query(sql.remove, [unused.map(({ name }) => name)]);
    if (changed.length > 0 || credentials !== before.credentials || next !== before.next) {
      yield* writeRoot(locked, { ...before, credentials, pages: digests, next });
    }
    return true;
  }

  function* begin(): Work<void> {
    const content: Checkpoint = { previous: '', credentials: String(yield* credentialsSequence()), pages: {} };
    yield* heads.add({ name: rootName, sequence: 1n, content: JSON.stringify(content) });
  }

  function* verifyPublished(): Work<CheckpointProblem[]> {
    const root = yield* readRoot();
    let last = '';
    let isChained = true;
    for (const row of yield* query<SignedRow<HeadRow>>(sql.published)) {
      isChained &&= heads.isAuthentic(row) && contentOf<PublishedContent>(row).previous === last;
      last = digestOf(row);
    }
    const content = root && contentOf<Checkpoint>(root);
    isChained &&= last === (content?.published?.digest ?? '');
    const isOlder = content !== undefined && (yield* credentialsSequence()) < BigInt(content.credentials);
    return [
      ...(isChained ? [] : [{ kind: 'published' } as const]),
      ...(isOlder ? [{ kind: 'credentials' } as const] : []),
    ];
  }

  return {
    async advance({ purgedBefore, accept = false }) {
      const before = await snapshot(() => readRoot());
      if (!before) await transaction(begin);
      const next = before && contentOf<Checkpoint>(before).next;
      const first = accept ? accepted : Math.max(0, prefixes.indexOf(next ?? ''));
      const { of, states } = await readStates(first);
      const found = await snapshot(function* () {
        const root = yield* readRoot();
        return root && { root, pages: yield* readPages(contentOf<Checkpoint>(root), accept ? [] : of) };
      });
      // Another process has written a checkpoint since the states were read.
      if (!found || (before && found.root.sequence !== before.sequence)) return { isEnd: false, rollbacks: [] };
      await nextIteration();
      const saved = new Map([...found.pages.values()].flat().map((state) => [state.keyHash, state]));
      const rollbacks = await findRollbacks([...saved.values()], states, purgedBefore);
      await nextIteration();
      const pages = new Map<string, NextPage>(of.map((prefix) => [prefix, { states: [], isChanged: accept }]));
      for (const { keyHash, state } of states.values()) {
        const prefix = prefixOf(keyHash);
        const next = rollbacks.has(keyHash) || !state ? saved.get(keyHash) : state;
        if (next) pages.get(prefix)?.states.push(next);
      }
      // A key that is missing stays in its page, so that checks continue to name it.
      for (const { head } of rollbacks.values()) {
        if (!states.has(head.keyHash)) pages.get(prefixOf(head.keyHash))?.states.push(head);
      }
      for (const [prefix, page] of pages) {
        page.isChanged ||= pageToContent(page.states) !== pageToContent(found.pages.get(prefix) ?? []);
      }
      await nextIteration();
      const end = first + of.length;
      const isWritten = await transaction(() =>
        commit(found.root, pages, { accept, next: accept ? next : prefixes[end] }),
      );
      if (!isWritten) return { isEnd: false, rollbacks: [] };
      const isEnd = end === prefixes.length;
      if (accept) accepted = isEnd ? 0 : end;
      return { isEnd, rollbacks: [...rollbacks.values()] };
    },
    async publish(at, minAgeMs) {
      const isDue = (root: HeadRow | undefined): root is HeadRow => {
        if (!root) return false;
        const last = contentOf<Checkpoint>(root).published;
        if (!last) return true;
        if (last.sequence === Number(root.sequence) - 1) return false;
        return isAhead(last, at) || at.getTime() - last.at >= minAgeMs;
      };
      // A transaction would wait for other writers.
      if (!isDue(await snapshot(() => readRoot()))) return undefined;
      return transaction(function* () {
        const root = yield* readRoot(heads.lock);
        if (!isDue(root)) return undefined;
        const content = contentOf<Checkpoint>(root);
        const last = content.published;
        const entry: PublishedContent = {
          at: at.getTime(),
          checkpoint: digestOf(root),
          previous: last?.digest ?? '',
        };
        const row = { name: publishedName(root.sequence), sequence: root.sequence, content: JSON.stringify(entry) };
        yield* heads.add(row);
        const published = { sequence: Number(root.sequence), at: at.getTime(), digest: digestOf(row) };
        yield* writeRoot(root, { ...content, published });
        return { ...published, isClockSetBack: isAhead(last, at) };
      });
    },
    async *states() {
      for await (const page of statesFrom('')) {
        for (const { keyHash, state } of page) {
          if (!state) throw integrityError(`The key ${keyHash}`);
          yield state;
        }
      }
    },
    compare: (states) => snapshot(() => rollbacksOf(states)),
    async findLost(logged) {
      const rows = await all<SignedRow<HeadRow>>(sql.published);
      const digests = new Map(rows.map((row) => [Number(row.sequence), digestOf(row)]));
      return logged.filter(({ sequence, digest }) => digests.get(sequence) !== digest);
    },
    async *verify(purgedBefore) {
      yield* await snapshot(verifyPublished);
      for (const prefix of prefixes) {
        yield* await snapshot(function* () {
          const root = yield* readRoot();
          const pages = root && (yield* readPages(contentOf<Checkpoint>(root), [prefix]));
          const rollbacks = yield* rollbacksOf(pages?.get(prefix) ?? []);
          return rollbacks.filter((rollback) => !mayBePurged(rollback, undefined, purgedBefore));
        });
      }
    },
  };
}

/** Whether a clock that was ahead has published it, and was set back since. */
function isAhead(published: PublishedCheckpoint | undefined, at: Date): boolean {
  return published !== undefined && published.at > at.getTime();
}

/** A page as the next checkpoint has it. */
interface NextPage {
  readonly states: KeyHead[];
  isChanged: boolean;
}

/** Whether only the used quota has grown, and the newest entry of the history is there. */
function isContinued(saved: KeyHead, { state, hasEntry = false }: Partial<ScannedState> = {}): boolean {
  return (
    state !== undefined &&
    hasEntry &&
    state.quotaUsed >= saved.quotaUsed &&
    pageToContent([{ ...state, quotaUsed: saved.quotaUsed }]) === pageToContent([saved])
  );
}
