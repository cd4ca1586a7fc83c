import {
  isCompositeType,
  isIntrospectionType,
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
  /** Whether the size depends on a variable. */
  readonly isVariable: boolean;
}

/** The size of a part of an operation. `perItem` is the cost for each item of the enclosing page. */
interface Part extends Omit<OperationSize, 'isVariable'> {
  readonly perItem: number;
}

const nothing: Part = { depth: 0, introspection: 0, aliases: 0, directives: 0, rootFields: 0, cost: 0, perItem: 0 };

/**
 * Measures an operation in one traversal that visits each fragment once. The document need not be valid. Introspection is
 * recognised by types, not by names.
 */
export function calculateComplexity(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
): OperationSize {
  let isVariable = false;
  const variables: Variables = {
    definitions: operation.variableDefinitions ?? [],
    get given() {
      isVariable = true;
      return given;
    },
  };
  const fragments = new Map(
    document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
  );
  const measured = new Map<string, Part>();

  function ofSelections({ selections }: SelectionSetNode, parent: GraphQLCompositeType | undefined): Part {
    return selections.map((node) => ofSelection(node, parent)).reduce(both, nothing);
  }

  function ofSelection(node: SelectionNode, parent: GraphQLCompositeType | undefined): Part {
    const own = { ...nothing, directives: node.directives?.length ?? 0 };
    switch (node.kind) {
      case Kind.FIELD:
        return both(own, ofField(node, parent));
      case Kind.INLINE_FRAGMENT:
        return both(
          own,
          ofSelections(node.selectionSet, node.typeCondition ? typeNamed(node.typeCondition.name.value) : parent),
        );
      case Kind.FRAGMENT_SPREAD:
        return both(own, ofFragment(node.name.value));
    }
  }

  function ofFragment(name: string): Part {
    const known = measured.get(name);
    if (known) return known;
    const fragment = fragments.get(name);
    // A fragment that contains itself or does not exist counts as zero: GraphQL rejects it.
    measured.set(name, nothing);
    if (!fragment) return nothing;
    const own = { ...nothing, directives: fragment.directives?.length ?? 0 };
    const part = both(own, ofSelections(fragment.selectionSet, typeNamed(fragment.typeCondition.name.value)));
    measured.set(name, part);
    return part;
  }

  function ofField(node: FieldNode, parent: GraphQLCompositeType | undefined): Part {
    const field = parent && fieldOf(schema, parent, node.name.value);
    const type = field && getNamedType(field.type);
    const inner = node.selectionSet
      ? ofSelections(node.selectionSet, isCompositeType(type) ? type : undefined)
      : nothing;
    const isList = field !== undefined && isListType(getNullableType(field.type));
    const isIntrospection = parent !== undefined && isIntrospectionType(parent);
    const items = field ? estimateListSize(field, node, variables) : 1;
    // A page costs its items even if none of their fields is selected.
    const own = items + (field && parent ? weightOf(parent.name, field.name) - 1 : 0);
    const cost = own + (isList ? items * (inner.cost + inner.perItem) : inner.cost + items * inner.perItem);
    return {
      depth: (isIntrospection ? 0 : 1) + inner.depth,
      introspection: (isIntrospection && isList ? 1 : 0) + inner.introspection,
      // Routers merge requests for entities as aliases of `_entities`, whose cost limits them.
      aliases: (node.alias && node.name.value !== '_entities' ? 1 : 0) + inner.aliases,
      directives: inner.directives,
      rootFields: 1,
      cost: isList ? 0 : cost,
      perItem: isList ? cost : 0,
    };
  }

  function typeNamed(name: string): GraphQLCompositeType | undefined {
    const type = schema.getType(name);
    return isCompositeType(type) ? type : undefined;
  }

  const onVariables = variables.definitions.flatMap(({ directives }) => directives ?? []);
  const { perItem, ...whole } = ofSelections(
    operation.selectionSet,
    schema.getRootType(operation.operation) ?? undefined,
  );
  return {
    ...whole,
    directives: whole.directives + (operation.directives?.length ?? 0) + onVariables.length,
    cost: whole.cost + perItem,
    isVariable,
  };
}

function both(one: Part, other: Part): Part {
  return {
    depth: Math.max(one.depth, other.depth),
    introspection: Math.max(one.introspection, other.introspection),
    aliases: one.aliases + other.aliases,
    directives: one.directives + other.directives,
    rootFields: one.rootFields + other.rootFields,
    cost: one.cost + other.cost,
    perItem: one.perItem + other.perItem,
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
