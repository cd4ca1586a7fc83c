import { useEffect } from 'preact/hooks';

/** Calls `work` again and again; not at all without a time. */
export function useInterval(work: () => void, everyMs: number | undefined): void {
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(work, everyMs);
    return () => clearInterval(timer);
  }, [work, everyMs]);
}
