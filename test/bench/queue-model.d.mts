export interface Costs {
  readonly process: number;
  readonly look: number;
  readonly row: number;
  readonly sync: number;
  readonly trip: number;
}
export interface Machine {
  readonly processes: number;
  readonly processors: number;
  readonly groups?: number;
  readonly most?: number;
}
export function limitsOf(costs: Costs, machine: Machine): Record<string, number>;
export function simulate(
  costs: Costs,
  machine: Machine,
  load: { readonly perSecond: number; readonly seconds: number; readonly random: () => number },
): { done: number; p50Ms: number; p99Ms: number };
