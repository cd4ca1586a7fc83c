/**
 * Returns the groups of files that import each other, directly or through other files: the strongly connected
 * components, by Tarjan's algorithm. Each group is sorted.
 */
export function importCycles(importsOf: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];

  const visit = (file: string): number => {
    const index = order.size;
    order.set(file, index);
    lowest.set(file, index);
    stack.push(file);
    const imports = (importsOf.get(file) ?? []).filter((name) => importsOf.has(name));
    for (const name of imports) {
      const reached = order.has(name) ? (stack.includes(name) ? order.get(name) : undefined) : visit(name);
      lowest.set(file, Math.min(lowest.get(file) ?? index, reached ?? index));
    }
    const low = lowest.get(file) ?? index;
    if (low === index) {
      const group = stack.splice(stack.indexOf(file));
      if (group.length > 1 || imports.includes(file)) cycles.push(group.toSorted());
    }
    return low;
  };
  for (const file of importsOf.keys()) if (!order.has(file)) visit(file);
  return cycles.toSorted();
}
