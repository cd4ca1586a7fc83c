/** The maximum number of changes in a group. In SQLite small ones take about a millisecond. */
export const maxGroupSize = 128;

/** The result of one change of a group, or its error. */
export type ChangeOutcome = { readonly value: unknown } | { readonly error: unknown };

/** The caller of a change that is written in a group with others. */
export interface WaitingCaller {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Ends the wait of a caller. */
export function complete({ resolve, reject }: WaitingCaller, outcome: ChangeOutcome | undefined): void {
  if (outcome && 'value' in outcome) resolve(outcome.value);
  else reject(outcome?.error);
}
