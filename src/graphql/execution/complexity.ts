import {
  isCompositeType,
  isListType,
  getNamedType,
  getNullableType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { weightOf } from './field-cost.js';
import { estimateListSize, type Variables } from './list-size.js';

/** The size of an operation. A fragment counts each time it is spread. A count may be Infinity. */
export interface OperationSize {
  /** The nesting depth of fields, without introspection. */
  readonly depth: number;
  /** The nesting depth of lists in introspection, where types have fields, and fields have types. */
  readonly introspection: number;
  readonly aliases: number;
  readonly directives: number;
  readonly rootFields: number;
  /** The sum of the weights of all fields (1 by default), each multiplied by the sizes of the enclosing pages. */
  readonly cost: number;
  /** The cost in the units of demand control, as a router estimates it: a scalar costs nothing, and a page as an object. */
  readonly estimate: number;
  /** Whether the size depends on a variable. */
  readonly isVariable: boolean;
}

/** The size of a part of an operation. `perItem` and `estimatePerItem` are for each item of the enclosing page. */
interface PartSize extends Omit<OperationSize, 'isVariable'> {
  readonly perItem: number;
  readonly estimatePerItem: number;
}

const zero: PartSize = {
  depth: 0,
  introspection: 0,
  aliases: 0,
  directives: 0,
  rootFields: 0,
  cost: 0,
  perItem: 0,
  estimate: 0,
  estimatePerItem: 0,
};

/**
 * Measures an operation in one traversal that visits each fragment once. The document need not be valid. Introspection is
 * recognized by types, not by names of fields.
 */
export function calculateComplexity(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variableValues: Readonly<Record<string, unknown>>,
): OperationSize {
  let isVariable = false;
  const variables: Variables = {
    definitions: operation.variableDefinitions ?? [],
    get values() {
      isVariable = true;
      return variableValues;
    },
  };
  const fragments = new Map(
    document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
  );
  const measured = new Map<string, PartSize>();

  function measureSelections({ selections }: SelectionSetNode, parent: GraphQLCompositeType | undefined): PartSize {
    return selections.map((node) => measureSelection(node, parent)).reduce(addSizes, zero);
  }

  function measureSelection(node: SelectionNode, parent: GraphQLCompositeType | undefined): PartSize {
    const own = { ...zero, directives: node.directives?.length ?? 0 };
    switch (node.kind) {
      case Kind.FIELD:
        return addSizes(own, measureField(node, parent));
      case Kind.INLINE_FRAGMENT:
        return addSizes(
          own,
          measureSelections(node.selectionSet, node.typeCondition ? typeNamed(node.typeCondition.name.value) : parent),
        );
      case Kind.FRAGMENT_SPREAD:
        return addSizes(own, measureFragment(node.name.value));
    }
  }

  function measureFragment(name: string): PartSize {
    const cached = measured.get(name);
    if (cached) return cached;
    const fragment = fragments.get(name);
    // A fragment that contains itself or does not exist counts as zero: GraphQL rejects it.
    measured.set(name, zero);
    if (!fragment) return zero;
    const own = { ...zero, directives: fragment.directives?.length ?? 0 };
    const part = addSizes(own, measureSelections(fragment.selectionSet, typeNamed(fragment.typeCondition.name.value)));
    measured.set(name, part);
    return part;
  }

  function measureField(node: FieldNode, parent: GraphQLCompositeType | undefined): PartSize {
    const field = parent && fieldOf(schema, parent, node.name.value);
    const type = field && getNamedType(field.type);
    const inner = node.selectionSet
      ? measureSelections(node.selectionSet, isCompositeType(type) ? type : undefined)
      : zero;
    const isList = field !== undefined && isListType(getNullableType(field.type));
    const isIntrospection = parent?.name.startsWith('__') ?? false;
    const items = field ? estimateListSize(field, node, variables) : 1;
    const weight = field && parent ? weightOf(parent.name, field.name) : 1;
    // A page costs its items even if none of their fields is selected.
    const cost =
      items + weight - 1 + (isList ? items * (inner.cost + inner.perItem) : inner.cost + items * inner.perItem);
    const ownEstimate = weight === 1 && !isCompositeType(type) ? 0 : weight;
    const estimate =
      ownEstimate * (isList ? items : 1) +
      (isList ? items * (inner.estimate + inner.estimatePerItem) : inner.estimate + items * inner.estimatePerItem);
    return {
      depth: (isIntrospection ? 0 : 1) + inner.depth,
      introspection: (isIntrospection && isList ? 1 : 0) + inner.introspection,
      // Routers merge requests for entities as aliases of `_entities`, whose cost limits them.
      aliases: (node.alias && node.name.value !== '_entities' ? 1 : 0) + inner.aliases,
      directives: inner.directives,
      rootFields: 1,
      cost: isList ? 0 : cost,
      perItem: isList ? cost : 0,
      estimate: isList ? 0 : estimate,
      estimatePerItem: isList ? estimate : 0,
    };
  }

  function typeNamed(name: string): GraphQLCompositeType | undefined {
    const type = schema.getType(name);
    return isCompositeType(type) ? type : undefined;
  }

  const variableDirectives = variables.definitions.flatMap(({ directives }) => directives ?? []);
  const { perItem, estimatePerItem, ...total } = measureSelections(
    operation.selectionSet,
    schema.getRootType(operation.operation) ?? undefined,
  );
  return {
    ...total,
    directives: total.directives + (operation.directives?.length ?? 0) + variableDirectives.length,
    cost: total.cost + perItem,
    estimate: total.estimate + estimatePerItem,
    isVariable,
  };
}

function addSizes(left: PartSize, right: PartSize): PartSize {
  return {
    depth: Math.max(left.depth, right.depth),
    introspection: Math.max(left.introspection, right.introspection),
    aliases: left.aliases + right.aliases,
    directives: left.directives + right.directives,
    rootFields: left.rootFields + right.rootFields,
    cost: left.cost + right.cost,
    perItem: left.perItem + right.perItem,
    estimate: left.estimate + right.estimate,
    estimatePerItem: left.estimatePerItem + right.estimatePerItem,
  };
}

function fieldOf(
  schema: GraphQLSchema,
  parent: GraphQLCompositeType,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  if (parent === schema.getQueryType()) {
    const meta = [SchemaMetaFieldDef, TypeMetaFieldDef].find((field) => field.name === name);
    if (meta) return meta;
  }
  return 'getFields' in parent ? parent.getFields()[name] : undefined;
}
