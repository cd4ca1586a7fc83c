/** One operation of a history. Its two times are places in one order of all invocations and responses. */
export interface Operation<Input, Output> {
  readonly input: Input;
  readonly invoked: number;
  /** Infinity where no response came, or one that leaves open whether it was done. */
  readonly responded: number;
  /** Undefined in the same case. */
  readonly output: Output | undefined;
}

/** A sequential specification: one operation at a time. Different states must have different JSON. */
export interface Specification<State, Input, Output> {
  readonly initial: State;
  /** The state after the operation; undefined where it could not have given this output in this state. */
  readonly step: (state: State, input: Input, output: Output | undefined) => State | undefined;
}

/**
 * The search of Wing and Gong (1993) with Lowe's memory of dead ends: is there one order of the operations that the
 * specification allows, and that orders those which did not overlap? Returns undefined if there is one, else the
 * operations that no order got past.
 */
export function unexplained<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  { initial, step }: Specification<State, Input, Output>,
): Operation<Input, Output>[] | undefined {
  const operations = [...history].sort((a, b) => a.invoked - b.invoked);
  const deadEnds = new Set<string>();
  const furthest: { left: number; candidates: Operation<Input, Output>[] } = { left: Infinity, candidates: [] };

  // `done` has a bit for each operation that has its place; `left` counts those with a response that have none yet.
  function search(done: bigint, left: number, state: State): boolean {
    if (left === 0) return true;
    const here = `${done.toString(36)} ${JSON.stringify(state)}`;
    if (deadEnds.has(here)) return false;
    deadEnds.add(here);

    // What comes next was invoked before any operation without a place had responded. Later ones in the list were invoked
    // later still, so the first that is too late ends the list of candidates.
    const candidates: Operation<Input, Output>[] = [];
    let earliestResponse = Infinity;
    for (const [index, operation] of operations.entries()) {
      const bit = 1n << BigInt(index);
      if ((done & bit) !== 0n) continue;
      if (operation.invoked > earliestResponse) break;
      earliestResponse = Math.min(earliestResponse, operation.responded);
      candidates.push(operation);
      const next = step(state, operation.input, operation.output);
      // One without a response may have been done at any time since, or never: it need not find a place.
      const still = operation.responded === Infinity ? left : left - 1;
      if (next !== undefined && search(done | bit, still, next)) return true;
    }
    if (left < furthest.left) Object.assign(furthest, { left, candidates });
    return false;
  }

  const completed = operations.filter(({ responded }) => responded !== Infinity).length;
  return search(0n, completed, initial) ? undefined : furthest.candidates;
}
