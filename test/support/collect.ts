/** Returns all elements. */
export async function collect<T>(elements: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const element of elements) all.push(element);
  return all;
}

/** Returns the elements of all pages. */
export async function allOf<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}
