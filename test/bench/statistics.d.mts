export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}
export function quantile(values: readonly number[], share: number): number;
export function spread(values: readonly number[]): Spread;
export function ratios(values: readonly number[], base: readonly number[] | undefined): Spread | undefined;
