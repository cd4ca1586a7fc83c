/** The two keys of a counter. What is in braces decides the hash slot, and so both are in the same one. */
export function keyNames(pattern: string, keyHash: string): [counter: string, kept: string] {
  const counter = pattern.replace('{keyHash}', keyHash);
  return [counter, `keyfront:{${counter}}`];
}

/** The name of a receipt, in the hash slot of the counter. */
export function receiptName(pattern: string, keyHash: string, id: string): string {
  return `${keyNames(pattern, keyHash)[1]}:receipt:${id}`;
}
