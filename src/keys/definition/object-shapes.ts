/** Makes an object of those names whose values are not undefined; names and values stand in the same order. */
export type CreateObject = (values: readonly unknown[]) => Record<string, unknown>;

/** Other combinations of names than the first so many are not worth their place. */
const mostTemplates = 64;
/** So many bits are exact in a number. */
const mostNames = 53;

/**
 * Objects that are put together member by member are hash tables to V8 from some twenty members on, and to copy one then
 * takes a hundred times as long. A copy of an object that was read from JSON is none, whatever is put into it.
 */
export function createObjectFactory(names: readonly string[]): CreateObject {
  const templates = new Map<number, object>();
  const bits = names.map((_, index) => 2 ** index);

  function templateFor(present: number, values: readonly unknown[]): object {
    const known = templates.get(present);
    if (known) return known;
    if (names.length > mostNames || templates.size >= mostTemplates) return {};
    const template = templateOf(names.filter((_, index) => values[index] !== undefined));
    templates.set(present, template);
    return template;
  }

  return (values) => {
    let present = 0;
    for (let index = 0; index < bits.length; index++) if (values[index] !== undefined) present += bits[index] ?? 0;
    const record: Record<string, unknown> = { ...templateFor(present, values) };
    for (let index = 0; index < names.length; index++) {
      const value = values[index];
      if (value !== undefined) record[names[index] ?? ''] = value;
    }
    return record;
  };
}

/** An object to copy, with a member of every name. */
export function templateOf(names: readonly string[]): object {
  return JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:null`).join()}}`) as object;
}
