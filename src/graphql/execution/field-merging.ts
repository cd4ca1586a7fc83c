import {
  getNamedType,
  GraphQLError,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  print,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLOutputType,
  type SelectionSetNode,
  type ValidationRule,
  type ValueNode,
} from 'graphql';

/** A selection set, and the type of the object that it selects from; undefined if the document names no such type. */
interface TypedSelections {
  readonly selectionSet: SelectionSetNode;
  readonly type: GraphQLCompositeType | undefined;
}

/** A field as one selection set selects it. */
interface Selected {
  readonly node: FieldNode;
  readonly parent: GraphQLCompositeType | undefined;
}

/** Fields with the same name in the response that an execution cannot merge. */
interface Conflict {
  readonly reason: string;
  readonly fields: readonly Selected[];
}

/** Selections of one object of the response. */
interface MergedSelections {
  readonly sets: readonly TypedSelections[];
  /** Whether the sets are of objects of different types: only the shapes of their fields must be the same. */
  readonly areExclusive: boolean;
}

/** A document of the maximum size has 10,000 selections. Merging as many as this takes about 5 ms. */
const maxSelections = 20_000;

/**
 * The rule "Field Selection Merging" of the specification. Accepts the documents that `OverlappingFieldsCanBeMergedRule` of
 * graphql-js accepts. That rule compares all pairs of fields, which takes 100 ms for 550 fields. This one merges the
 * selections as an execution does, and compares each field with the first one of the same name.
 */
export const fieldSelectionMerging: ValidationRule = (context) => {
  const schema = context.getSchema();
  const mergedAlone = new Set<FieldNode>();
  const argumentKeys = new Map<FieldNode, string>();
  let remaining = maxSelections;

  const typeNamed = (name: string) => {
    const type = schema.getType(name);
    return isCompositeType(type) ? type : undefined;
  };
  const keyOfArguments = (node: FieldNode) => {
    const key = argumentKeys.get(node) ?? argumentsKey(node);
    argumentKeys.set(node, key);
    return key;
  };
  const definitionOf = ({ node, parent }: Selected) => parent && schema.getField(parent, node.name.value);
  const inner = (selected: readonly Selected[]): TypedSelections[] =>
    selected.flatMap((field) => {
      const { selectionSet } = field.node;
      const type = getNamedType(definitionOf(field)?.type);
      return selectionSet ? [{ selectionSet, type: isCompositeType(type) ? type : undefined }] : [];
    });

  /** The fields of merged selections by their names in the response; undefined for too many. */
  function collect(sets: readonly TypedSelections[]): Map<string, Selected[]> | undefined {
    const fields = new Map<string, Selected[]>();
    const spread = new Set<string>();
    const open = [...sets];
    // Fragments are added while the loop runs.
    for (const { selectionSet, type } of open) {
      remaining -= selectionSet.selections.length;
      if (remaining < 0) return undefined;
      for (const node of selectionSet.selections) {
        if (node.kind === Kind.FIELD) {
          const name = (node.alias ?? node.name).value;
          const others = fields.get(name);
          if (!others) fields.set(name, [{ node, parent: type }]);
          else if (!others[0] || !isSameLeaf(others[0], node, type)) others.push({ node, parent: type });
        } else if (node.kind === Kind.INLINE_FRAGMENT) {
          const { typeCondition, selectionSet } = node;
          open.push({ selectionSet, type: typeCondition ? typeNamed(typeCondition.name.value) : type });
        } else if (!spread.has(node.name.value)) {
          spread.add(node.name.value);
          const fragment = context.getFragment(node.name.value);
          if (fragment) {
            open.push({ selectionSet: fragment.selectionSet, type: typeNamed(fragment.typeCondition.name.value) });
          }
        }
      }
    }
    return fields;
  }

  /** The first field of one object that selects something else than a field with the same name in the response. */
  function selectionConflict([first, ...others]: readonly Selected[]): Conflict | undefined {
    for (const other of others) {
      const [name, otherName] = [first?.node.name.value, other.node.name.value];
      const fields = [first ?? other, other];
      if (name !== otherName) return { reason: `"${name}" and "${otherName}" are different fields`, fields };
      const [key, otherKey] = fields.map(({ node }) => keyOfArguments(node));
      if (key !== otherKey) return { reason: 'they have differing arguments', fields };
    }
    return undefined;
  }

  /** The first field whose value has another form than that of a field with the same name in the response. */
  function typeConflict([first, ...others]: readonly Selected[]): Conflict | undefined {
    const type = first && definitionOf(first)?.type;
    for (const other of others) {
      const otherType = definitionOf(other)?.type;
      if (!first || !type || !otherType || shapeOf(type) === shapeOf(otherType)) continue;
      const reason = `they return conflicting types "${String(type)}" and "${String(otherType)}"`;
      return { reason, fields: [first, other] };
    }
    return undefined;
  }

  function report(name: string, { reason, fields }: Conflict): void {
    const advice = 'Use different aliases on the fields to fetch both if this was intentional.';
    const nodes = fields.map(({ node }) => node);
    context.reportError(new GraphQLError(`Fields "${name}" conflict because ${reason}. ${advice}`, { nodes }));
  }

  /** Reports fields of one name that conflict. Returns what they select, to be merged in turn. */
  function merge(name: string, fields: readonly Selected[], areExclusive: boolean): MergedSelections[] {
    const [first, ...others] = fields;
    if (!first) return [];
    if (others.length === 0) {
      // Selections in exclusive objects are also merged in each object.
      if (areExclusive || mergedAlone.has(first.node)) return [];
      mergedAlone.add(first.node);
      return [{ sets: inner(fields), areExclusive: false }];
    }
    const groups = areExclusive ? [] : byObject(fields);
    const conflict = groups.map(selectionConflict).find((found) => found !== undefined) ?? typeConflict(fields);
    if (conflict) {
      report(name, conflict);
      return [];
    }
    const merged = groups.map((group) => ({ sets: inner(group), areExclusive }));
    return groups.length === 1 ? merged : [...merged, { sets: inner(fields), areExclusive: true }];
  }

  return {
    OperationDefinition({ operation, selectionSet }) {
      const root: TypedSelections = { selectionSet, type: schema.getRootType(operation) ?? undefined };
      const pending: MergedSelections[] = [{ sets: [root], areExclusive: false }];
      for (const { sets, areExclusive } of pending) {
        if (remaining < 0) break;
        const fields = collect(sets);
        if (!fields) context.reportError(tooManySelections());
        for (const [name, selected] of fields ?? []) pending.push(...merge(name, selected, areExclusive));
      }
      return false;
    },
    FragmentDefinition: () => false,
  };
};

function tooManySelections(): GraphQLError {
  const count = maxSelections.toLocaleString('en');
  return new GraphQLError(`The operations select more than ${count} fields, counting fragments at each spread.`);
}

/** Groups fields of which two can be of the same object. A field of an interface or a union is in every group. */
function byObject(fields: readonly Selected[]): Selected[][] {
  const types = new Set(fields.map(({ parent }) => parent).filter(isObjectType));
  if (types.size < 2) return [[...fields]];
  return [...types].map((type) => fields.filter(({ parent }) => parent === type || !isObjectType(parent)));
}

/** Whether a selection of a property repeats another, which then represents both. */
function isSameLeaf(
  { node: first, parent }: Selected,
  node: FieldNode,
  type: GraphQLCompositeType | undefined,
): boolean {
  return (
    parent === type &&
    first.name.value === node.name.value &&
    [first, node].every((field) => !field.selectionSet && !field.arguments?.length)
  );
}

/** A text that is the same for types whose values have the same form in a response. */
function shapeOf(type: GraphQLOutputType): string {
  if (isNonNullType(type)) return `${shapeOf(type.ofType)}!`;
  if (isListType(type)) return `[${shapeOf(type.ofType)}]`;
  return isCompositeType(type) ? '{}' : type.name;
}

/** A text that is the same for fields with the same arguments. */
function argumentsKey({ arguments: args = [] }: FieldNode): string {
  return args
    .map(({ name, value }) => `${name.value}:${literalKey(value)}`)
    .toSorted()
    .join();
}

function literalKey(node: ValueNode): string {
  if (node.kind === Kind.LIST) return `[${node.values.map(literalKey).join()}]`;
  if (node.kind !== Kind.OBJECT) return print(node);
  const members = node.fields.map(({ name, value }) => `${name.value}:${literalKey(value)}`);
  return `{${members.toSorted().join()}}`;
}
