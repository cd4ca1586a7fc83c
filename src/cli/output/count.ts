/** A count with its noun, which is given in the plural: `1 key verified`, `12,000 keys verified`. */
export function countOf(count: number, plural: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? plural.replace(/s\b/, '') : plural}`;
}
