import type { Meter, Telemetry } from '../telemetry/ports.js';

/** The maximum number of changes in a group. In SQLite small ones take about a millisecond. */
export const maxGroupSize = 128;

/** The result of one change of a group, or its error. */
export type ChangeOutcome = { readonly value: unknown } | { readonly error: unknown };

/** The caller of a change that is written in a group with others. */
export interface WaitingCaller {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Called after the commit, with the number of changes that it holds. */
  readonly onGroup?: (size: number) => void;
}

/** Returns the function that adds a caller to the queue of its engine, and resolves or rejects with the outcome of its change. */
export function createGroupEntry({ tracer }: Telemetry) {
  const enter = <T>(enqueue: (caller: WaitingCaller) => void, onGroup?: WaitingCaller['onGroup']): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      enqueue({ resolve: resolve as WaitingCaller['resolve'], reject, ...(onGroup && { onGroup }) });
    });
  if (!tracer) return <T>(enqueue: (caller: WaitingCaller) => void) => enter<T>(enqueue);
  return <T>(enqueue: (caller: WaitingCaller) => void) =>
    tracer.withSpan('commit', {}, (setAttributes) =>
      enter<T>(enqueue, (size) => setAttributes({ 'keyfront.commit.batch_size': size })),
    );
}

/** Ends the wait of a caller. */
export function complete({ resolve, reject }: WaitingCaller, outcome: ChangeOutcome | undefined): void {
  if (outcome && 'value' in outcome) resolve(outcome.value);
  else reject(outcome?.error);
}

/** Reports a committed group. Called after {@link complete}, because an error of telemetry must not reject what is committed. */
export function reportGroup(group: readonly WaitingCaller[], beginMs: number, meter: Meter | undefined): void {
  if (group.length > 0) meter?.committed(group.length, (performance.now() - beginMs) / 1000);
  for (const { onGroup } of group) onGroup?.(group.length);
}
