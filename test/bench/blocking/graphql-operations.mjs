// Generates the most expensive GraphQL operations that the limits allow, from the schema alone.
import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInputObjectType,
  isListType,
  getNullableType,
  parse,
  getOperationAST,
} from 'graphql';
import { filterVariants } from './samples.mjs';

/** @typedef {import('./samples.mjs').Operation} Operation */

/** Sizes in descending number of requested items: the first one within the limits is the largest. */
const sizes = [15, 10, 5, 3, 2, 1]
  .flatMap((aliases) =>
    [200, 100, 20, 5, 1].flatMap((outer) => [100, 20, 5, 1].map((inner) => ({ aliases, outer, inner }))),
  )
  .map((size) => ({ ...size, items: size.aliases * size.outer * size.inner }))
  .sort((a, b) => b.items - a.items || b.aliases - a.aliases);
/** Whether a type is an entity. Only its identifier is selected inside another entity, to avoid cycles. */
const isEntity = (type) => 'getFields' in type && 'id' in type.getFields() && type.name !== 'Node';
const isPaged = (field) => field.args.some(({ name }) => name === 'first');
const isCount = (field) => /^Int(64)?$/.test(getNamedType(field.type).name);
const isMutationWithDryRun = (field) => field.args.some(({ name }) => name === 'dryRun');

/**
 * Returns the largest permitted operations. Throws if the schema has an argument without a sample value.
 *
 * @param {object} parts
 * @param {import('graphql').GraphQLSchema} parts.schema the served schema
 * @param {Record<string, number>} parts.limits
 * @param {Function} parts.calculateComplexity
 * @param {import('./samples.mjs').Samples} parts.samples
 * @returns {Operation[]}
 */
export function graphqlOperations({ schema, limits, calculateComplexity, samples }) {
  const query = schema.getQueryType();
  const mutation = schema.getMutationType();
  const fragments = new Map();

  /** Returns the name of a fragment with all unpaged fields of a type, and the identifier of each nested entity. */
  function fragmentOf(type) {
    const known = fragments.get(type.name);
    if (known) return known.name;
    const entry = { name: `All${type.name}`, text: '', uses: new Set() };
    fragments.set(type.name, entry);
    const selected = Object.values(type.getFields()).flatMap((field) => {
      if (isPaged(field) || field.args.some(({ type: of }) => String(of).endsWith('!'))) return [];
      const inner = getNamedType(field.type);
      if (!isCompositeType(inner)) return [field.name];
      if (isEntity(inner) && isEntity(type)) return [`${field.name} { id }`];
      if (isAbstractType(inner)) return [`${field.name} { __typename }`];
      entry.uses.add(inner.name);
      return [`${field.name} { ...${fragmentOf(inner)} }`];
    });
    entry.text = `fragment ${entry.name} on ${type.name} { ${selected.join(' ')} }`;
    return entry.name;
  }

  function withFragments(text) {
    const needed = new Map();
    const collect = (found) => {
      for (const entry of fragments.values()) {
        if (!needed.has(entry.name) && found.includes(`...${entry.name} `)) {
          needed.set(entry.name, entry.text);
          collect(entry.text);
        }
      }
    };
    collect(text);
    return [text, ...needed.values()].join('\n');
  }

  /** Returns the selections of a field: everything; of a page, also count, page info and one field of each item. */
  function selectionsOf(field) {
    const type = getNamedType(field.type);
    if (!isCompositeType(type)) return [{ name: '', text: '', leaf: field.name }];
    const all = isAbstractType(type) ? '__typename' : `...${fragmentOf(type)} `;
    const selections = [{ name: 'everything', text: all }];
    if (isAbstractType(type) || !isPaged(field)) return selections;
    for (const inner of Object.values(type.getFields())) {
      const of = getNamedType(inner.type);
      if (isCount(inner)) selections.push({ name: inner.name, text: inner.name, isCount: true });
      else if (!isCompositeType(of)) continue;
      else if (!isListType(getNullableType(inner.type))) {
        selections.push({ name: inner.name, text: `${inner.name} { ...${fragmentOf(of)} }` });
      } else selections.push({ name: `one field of ${inner.name}`, text: `${inner.name} { ${cheapestOf(of)} }` });
    }
    return selections;
  }

  /** Returns the cheapest selection of an item: its cost is low, although the service reads the whole row. */
  function cheapestOf(type) {
    const fields = Object.values(type.getFields());
    const node = fields.find(({ name }) => name === 'node' || name === 'orgKey');
    if (node) return `${node.name} { ${cheapestOf(getNamedType(node.type))} }`;
    const leaf =
      fields.find(({ name }) => name === 'version') ??
      fields.find((field) => !isCompositeType(getNamedType(field.type)));
    return leaf.name;
  }

  /** Yields the paths from a root field to each field of an entity, as lists of steps without a repeated entity. */
  function* pathsFrom(steps, type, visited) {
    if (steps.length > limits.depth) return;
    if (isAbstractType(type)) {
      for (const possible of schema.getPossibleTypes(type))
        yield* pathsFrom([...steps, { on: possible }], possible, visited);
      return;
    }
    const here = isEntity(type) ? new Set([...visited, type.name]) : visited;
    for (const field of Object.values(type.getFields())) {
      const inner = getNamedType(field.type);
      if (!isCompositeType(inner)) continue;
      const leadsBack = isEntity(inner) && here.has(inner.name);
      if (isEntity(type) && !isEntity(inner)) yield [...steps, { field, parent: type }];
      if (!leadsBack) yield* pathsFrom([...steps, { field, parent: type }], inner, here);
    }
  }

  const found = [];
  const seen = new Set();
  /** The sizes of the operations by name. */
  const chosen = new Map();

  /**
   * Adds the largest operation of a shape within the limits: with the most aliases and the largest pages. `shape`
   * returns the document and the variables for numbers of aliases and sizes of pages.
   */
  function add(name, shape, more = {}, sameSizeAs = undefined) {
    if (seen.has(name)) return;
    seen.add(name);
    const known = sameSizeAs === undefined ? undefined : chosen.get(sameSizeAs);
    const best = known ? { ...shape(known), ...known } : firstWithinLimits(shape);
    if (!best) return;
    const { text, variables, items } = best;
    chosen.set(name, { aliases: best.aliases, outer: best.outer, inner: best.inner, items });
    const body = () =>
      JSON.stringify({ query: text, variables: typeof variables === 'function' ? variables() : variables });
    found.push({ name, credential: 'service', method: 'POST', path: '/graphql', body, query: text, items, ...more });
  }

  function firstWithinLimits(shape) {
    for (const { items, ...size } of sizes) {
      const built = shape(size);
      if (built && isWithinLimits(built)) return { ...built, ...size, items };
    }
    return undefined;
  }

  function isWithinLimits({ text, variables }) {
    if (text.length > limits.characters) return false;
    let document;
    try {
      document = parse(text, { maxTokens: limits.tokens });
    } catch {
      return false;
    }
    const operation = getOperationAST(document);
    const given = typeof variables === 'function' ? variables() : variables;
    const size = calculateComplexity(schema, document, operation, given);
    const mutations = operation.operation === 'mutation' ? size.rootFields : 0;
    return (
      size.depth <= limits.depth &&
      size.aliases <= limits.aliases &&
      size.cost <= limits.cost &&
      mutations <= limits.mutations
    );
  }

  /** Returns the arguments of a field for its alias number `index`. */
  function argumentsOf(field, coordinate, { index = 0, first, given = {} }) {
    const parts = [];
    const variables = {};
    for (const argument of field.args) {
      const { name } = argument;
      const value = name in given ? given[name] : samples.argument(coordinate, name, index, first);
      if (value === undefined) continue;
      if (isInputObjectType(getNamedType(argument.type)) || name === 'representations') {
        const variable = `${name}${field.name}`;
        variables[variable] = { type: String(argument.type), value };
        parts.push(`${name}: $${variable}`);
      } else parts.push(`${name}: ${value.literal ?? JSON.stringify(value)}`);
    }
    return { text: parts.length > 0 ? `(${parts.join(', ')})` : '', variables };
  }

  function documentOf(kind, fields, variables) {
    const declared = Object.entries(variables).map(([name, { type }]) => `$${name}: ${type}`);
    const head = `${kind}${declared.length > 0 ? ` Bench(${declared.join(', ')})` : ''}`;
    const values = Object.fromEntries(Object.entries(variables).map(([name, { value }]) => [name, value]));
    return { text: withFragments(`${head} { ${fields.join(' ')} }`), variables: values };
  }

  const aliased = (count, index) => (count > 1 ? `a${index}: ` : '');

  /** Returns the shape of a root field with aliases. */
  function rootShape(kind, field, selection, given = () => ({})) {
    return ({ aliases, outer, inner }) => {
      if (inner !== 1 || (outer !== 1 && !isPaged(field))) return undefined;
      const variables = {};
      const fields = Array.from({ length: aliases }, (_, index) => {
        const args = argumentsOf(field, `${kind === 'query' ? query.name : mutation.name}.${field.name}`, {
          index,
          first: outer,
          given: given(index),
        });
        Object.assign(variables, args.variables);
        return `${aliased(aliases, index)}${field.name}${args.text}${selection ? ` { ${selection} }` : ''}`;
      });
      return documentOf(kind, fields, variables);
    };
  }

  /** Returns the shape of a path to a field of an entity, with the aliases at its root or at its end. */
  function pathShape(kind, steps, selection, { atEnd, given = {} }) {
    return ({ aliases, outer, inner }) => {
      const pages = steps.filter(({ field }) => field && isPaged(field));
      if ((outer !== 1 && pages.length === 0) || (inner !== 1 && pages.length < 2)) return undefined;
      const variables = {};
      const nested = (index, root) => {
        const step = steps[index];
        const isLast = index === steps.length - 1;
        if (step.on) return `... on ${step.on.name} { ${nested(index + 1, root)} }`;
        const first = pages.indexOf(step) === 0 ? outer : inner;
        const one = (alias, number) => {
          const args = argumentsOf(step.field, `${step.parent.name}.${step.field.name}`, {
            index: number,
            first,
            given: isLast || index === 0 ? given : {},
          });
          Object.assign(variables, args.variables);
          return `${alias}${step.field.name}${args.text} { ${isLast ? selection : nested(index + 1, root)} }`;
        };
        if (isLast && atEnd) return Array.from({ length: aliases }, (_, n) => one(aliased(aliases, n), n)).join(' ');
        return one(index === 0 && !atEnd ? aliased(aliases, root) : '', index === 0 ? root : 0);
      };
      const fields = Array.from({ length: atEnd ? 1 : aliases }, (_, root) => nested(0, root));
      return documentOf(kind, fields, variables);
    };
  }

  // Root fields alone, and the list of keys with each filter, each pair of filters and each order.
  for (const field of Object.values(query.getFields())) {
    if (field.name.startsWith('_service')) continue;
    const type = getNamedType(field.type);
    const credential = field.extensions.credential ?? 'service';
    const isEntities = field.name === '_entities';
    for (const selection of isEntities ? [] : selectionsOf(field)) {
      const name = `${field.name}: ${selection.name}`;
      add(name, rootShape('query', field, selection.text), { credential });
      if (!field.args.some(({ type: of }) => getNamedType(of).name === 'OrgKeyFilter')) continue;
      for (const variant of filterVariants(schema, samples)) {
        const isSingle = variant.fields === 1;
        if (!isSingle && !selection.isCount && selection.name !== 'one field of edges') continue;
        if (selection.name === 'everything' || selection.name === 'pageInfo') continue;
        add(
          `${name}, ${variant.name}`,
          rootShape('query', field, selection.text, () => ({ filter: variant.value })),
          {},
          name,
        );
      }
      const orders = getNamedType(field.args.find(({ name: of }) => of === 'orderBy')?.type)?.getValues?.() ?? [];
      for (const { name: orderBy } of selection.isCount ? [] : orders) {
        for (const descending of [false, true]) {
          const given = () => ({ orderBy: { literal: orderBy }, descending });
          add(
            `${name}, by ${orderBy}${descending ? ' descending' : ''}`,
            rootShape('query', field, selection.text, given),
            {},
            name,
          );
          if (descending || selection.name !== 'one field of edges') continue;
          for (const variant of filterVariants(schema, samples).filter(({ fields }) => fields === 1)) {
            const filtered = () => ({ ...given(), filter: variant.value });
            add(
              `${name}, by ${orderBy}, ${variant.name}`,
              rootShape('query', field, selection.text, filtered),
              {},
              name,
            );
          }
        }
      }
    }
    for (const [what, representations] of isEntities ? Object.entries(samples.representations) : []) {
      for (const steps of pathsFrom([{ field, parent: query }], type, new Set())) {
        const on = steps[1]?.on;
        if (!on || !what.startsWith(on.name) || steps.length < 3) continue;
        addPath('query', steps, { representations }, `_entities of ${what}`);
      }
      const types = schema.getPossibleTypes(type).map((of) => `... on ${of.name} { ...${fragmentOf(of)} }`);
      add(
        `_entities of ${what}: everything`,
        rootShape('query', field, types.join(' '), () => ({ representations })),
      );
    }
    if (!isEntities && isCompositeType(type)) {
      for (const steps of pathsFrom([{ field, parent: query }], type, new Set()))
        addPath('query', steps, {}, field.name);
    }
  }

  for (const field of Object.values(mutation.getFields())) {
    const type = getNamedType(field.type);
    const runs = isMutationWithDryRun(field) ? [true, false] : [undefined];
    for (const dryRun of runs) {
      const given = dryRun === undefined ? {} : { dryRun };
      const what = `${field.name}${dryRun === undefined ? '' : dryRun ? ', dry run' : ', carried out'}`;
      const more = dryRun === true ? {} : { isChange: true };
      for (const selection of selectionsOf(field)) {
        add(
          `${what}: ${selection.name}`,
          rootShape('mutation', field, selection.text, () => given),
          more,
        );
      }
      if (dryRun !== true) continue;
      for (const steps of pathsFrom([{ field, parent: mutation }], type, new Set()))
        addPath('mutation', steps, given, what);
    }
  }

  function addPath(kind, steps, given, what) {
    const { field } = steps.at(-1);
    const entities = steps.filter((step) => step.parent && isEntity(step.parent));
    // Every selection of a root field contains the unpaged fields up to the first entity.
    if (!isPaged(field) && entities.length === 1 && !steps.some((step) => step.on && what.includes(step.on.name)))
      return;
    const path = steps
      .slice(1)
      .map((step) => step.field?.name ?? `on ${step.on.name}`)
      .join('.');
    for (const selection of selectionsOf(field)) {
      if (selection.name === 'pageInfo' || (selection.name === 'everything' && field.name === 'orgKeys')) continue;
      add(`${what}.${path}: ${selection.name}`, pathShape(kind, steps, selection.text, { atEnd: false, given }));
      if (!selection.isCount) continue;
      add(
        `${what}.${path}: ${selection.name}, aliased at its end`,
        pathShape(kind, steps, selection.text, { atEnd: true, given }),
      );
    }
  }

  return found;
}
