/** The module of this folder that plants a bug in a process which loads it first. */
export function plant(name: string): string {
  return new URL(`./${name}.mjs`, import.meta.url).pathname;
}
