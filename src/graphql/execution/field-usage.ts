import { getNamedType, TypeInfo, visit, visitWithTypeInfo, type DocumentNode, type GraphQLSchema } from 'graphql';

/**
 * The coordinates of all fields, arguments and input fields in a document, such as `OrgKey.keyID`, `Query.orgKey(by:)` and
 * `UpdateKeyInput.alias`. Members of variables are not in the document.
 */
export function fieldsUsedIn(schema: GraphQLSchema, document: DocumentNode): readonly string[] {
  const types = new TypeInfo(schema);
  const used = new Set<string>();
  visit(
    document,
    visitWithTypeInfo(types, {
      Field: () => {
        const [parent, field] = [types.getParentType(), types.getFieldDef()];
        if (parent && field && !field.name.startsWith('__')) used.add(`${parent.name}.${field.name}`);
      },
      Argument: ({ name }) => {
        const [parent, field] = [types.getParentType(), types.getFieldDef()];
        if (parent && field && types.getArgument()) used.add(`${parent.name}.${field.name}(${name.value}:)`);
      },
      ObjectField: ({ name }) => {
        const parent = types.getParentInputType();
        if (parent && types.getInputType()) used.add(`${getNamedType(parent).name}.${name.value}`);
      },
    }),
  );
  return [...used];
}
