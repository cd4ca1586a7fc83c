export interface SlowSyncs {
  readonly env: Readonly<Record<string, string>>;
  lengthen(us: number): void;
  measure(
    data: string,
    path: string,
    options: { count: number; cpus?: string | undefined },
  ): { us: number; cpuUs: number };
  close(): void;
}
export const hasSlowSyncs: boolean;
export function createSlowSyncs(folder: string): SlowSyncs;
