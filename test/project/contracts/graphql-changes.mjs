// @ts-check
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import {
  buildASTSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  parse,
  print,
} from 'graphql';

/**
 * A change of a contract that clients may notice, and the place of what changed: a GraphQL schema coordinate, or a path,
 * parameter or property of REST.
 * @typedef {{ readonly coordinate: string, readonly message: string }} Change
 */
/** @typedef {readonly Change[] | Promise<readonly Change[]>} Changes */

/**
 * Returns what breaks clients between two schemas, or may break them. A schema may be a subgraph's.
 * @param {string} base
 * @param {string} current
 * @returns {Promise<Change[]>}
 */
export async function graphqlChanges(base, current) {
  const [before, after] = [read(base), read(current)];
  const found = await diff(before.schema, after.schema);
  const changes = found
    .filter(({ criticality }) => criticality.level !== CriticalityLevel.NonBreaking)
    .filter(({ type, path = '' }) => !isHarmless(type, path))
    .map(({ path, message }) => ({ coordinate: coordinateOf(path), message }));
  return [...changes, ...nowRequired(before.schema, after.schema), ...lostKeys(before.document, after.document)];
}

/**
 * A new `@shareable` only permits more, `@tag`, `@cost` and `@listSize` describe, and the reason of a deprecation is text:
 * the inspector calls it removed where it has changed. The imports of `@link` follow from the directives. The inspector compares several `@key` of one type by their order; `lostKeys`
 * compares them by their text.
 * @param {string} type
 * @param {string} path
 */
function isHarmless(type, path) {
  if (/\.@key\b/.test(path) || /@deprecated\.reason$|@link\.import$/.test(path)) return true;
  return /^DIRECTIVE_USAGE_.*_ADDED$/.test(type) && /\.@(shareable|tag|cost|listSize)\b/.test(path);
}

/** @param {string} sdl */
function read(sdl) {
  const document = parse(sdl, { noLocation: true });
  const defined = new Set(document.definitions.filter(isTypeDefinitionNode).map(({ name }) => name.value));
  // In a subgraph a type may be extended that is defined in no place.
  const definitions = document.definitions.map((node) =>
    isTypeExtensionNode(node) && !defined.has(node.name.value)
      ? /** @type {import('graphql').TypeDefinitionNode} */ ({
          ...node,
          kind: node.kind.replace('Extension', 'Definition'),
        })
      : node,
  );
  // The directives of federation are used there without being defined.
  return { document, schema: buildASTSchema({ ...document, definitions }, { assumeValidSDL: true }) };
}

/**
 * `Query.orgKeys.first` -> `Query.orgKeys(first:)`, as GraphQL writes the place of an element in a schema. A directive
 * that is used stands for the element it is used on.
 * @param {string | undefined} path
 */
function coordinateOf(path) {
  const [owner = '', ...parts] = path?.split('.') ?? [];
  if (owner.startsWith('@')) return parts.length > 0 ? `${owner}(${parts[0]}:)` : owner;
  const use = parts.findIndex((part) => part.startsWith('@'));
  const [member, argument] = use < 0 ? parts : parts.slice(0, use);
  if (owner === '') return 'schema';
  if (member === undefined) return owner;
  return argument === undefined ? `${owner}.${member}` : `${owner}.${member}(${argument}:)`;
}

/**
 * What could be left out and cannot any more, because its default is gone: the inspector calls that dangerous only.
 * @param {import('graphql').GraphQLSchema} before
 * @param {import('graphql').GraphQLSchema} after
 * @returns {Change[]}
 */
function nowRequired(before, after) {
  const was = inputsOf(before);
  return [...inputsOf(after)].flatMap(([coordinate, input]) => {
    const earlier = was.get(coordinate);
    const isLost = earlier?.isRequired === false && earlier.type.endsWith('!') && input.isRequired;
    return isLost ? [{ coordinate, message: 'The default is gone, so that it must be given' }] : [];
  });
}

/** @param {import('graphql').GraphQLSchema} schema */
function inputsOf(schema) {
  return new Map(
    Object.values(schema.getTypeMap()).flatMap((type) => {
      if (isInputObjectType(type)) {
        return Object.values(type.getFields()).map((field) =>
          entry(`${type.name}.${field.name}`, field.type, isRequiredInputField(field)),
        );
      }
      if (!isObjectType(type) && !isInterfaceType(type)) return [];
      return Object.values(type.getFields()).flatMap((field) =>
        field.args.map((argument) =>
          entry(`${type.name}.${field.name}(${argument.name}:)`, argument.type, isRequiredArgument(argument)),
        ),
      );
    }),
  );
}

/**
 * @param {string} coordinate
 * @param {object} type
 * @param {boolean} isRequired
 */
function entry(coordinate, type, isRequired) {
  return /** @type {const} */ ([coordinate, { type: String(type), isRequired }]);
}

/**
 * The keys by which a router joined an entity, and cannot any more. The inspector calls that dangerous only.
 * @param {import('graphql').DocumentNode} before
 * @param {import('graphql').DocumentNode} after
 * @returns {Change[]}
 */
function lostKeys(before, after) {
  const kept = new Set(keysOf(after).map(({ id }) => id));
  return keysOf(before)
    .filter(({ id }) => !kept.has(id))
    .map(({ type, key }) => ({ coordinate: type, message: `The entity lost its ${key}` }));
}

/** @param {import('graphql').DocumentNode} document */
function keysOf(document) {
  return document.definitions.flatMap((node) => {
    if (!isTypeDefinitionNode(node) && !isTypeExtensionNode(node)) return [];
    const keys = (node.directives ?? []).filter(({ name }) => name.value === 'key').map(print);
    return keys.map((key) => ({ type: node.name.value, key, id: `${node.name.value} ${key}` }));
  });
}
