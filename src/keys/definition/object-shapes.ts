/** Creates an object from values in the order of the names. Names whose value is undefined are left out. */
export type CreateObject = (values: readonly unknown[]) => Record<string, unknown>;

/** Maximum number of cached templates, one for each combination of present names. */
const maxTemplates = 64;
/** Number of bits that are exact in a double. */
const maxNames = 53;

/**
 * From about 20 members on, V8 turns an object that is built member by member into a hash table, and copying it then takes
 * 100 times as long. The copy of an object from JSON.parse keeps its fast shape when members are set.
 */
export function createObjectFactory(names: readonly string[]): CreateObject {
  const templates = new Map<number, object>();
  const bits = names.map((_, index) => 2 ** index);

  function templateFor(present: number, values: readonly unknown[]): object {
    const known = templates.get(present);
    if (known) return known;
    if (names.length > maxNames || templates.size >= maxTemplates) return {};
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

/** Returns an object to copy, with a null member for every name. */
export function templateOf(names: readonly string[]): object {
  return JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:null`).join()}}`) as object;
}
