export function reachedAt(
  points: readonly { readonly syncUs: number; readonly ratio: number }[],
  ratio: number,
): number | undefined;
