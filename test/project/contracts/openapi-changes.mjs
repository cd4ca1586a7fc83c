// @ts-check

/** @typedef {import('./graphql-changes.mjs').Change} Change */
/** @typedef {{ name: string, required?: boolean }} Parameter */
/** @typedef {{ properties?: Record<string, Schema>, type?: unknown, format?: unknown, $ref?: unknown }} Schema */
/** @typedef {Record<string, Record<string, { parameters?: Parameter[] }>>} Paths */

/**
 * What clients of the first document miss in the second: operations, parameters and properties by name. A parameter
 * that must be given now breaks them as well; another type is dangerous, because it may be a wider one.
 * @param {string} base
 * @param {string} current
 * @returns {Change[]}
 */
export function openAPIChanges(base, current) {
  const [before, after] = [surfaceOf(base), surfaceOf(current)];
  const gone = [...before.keys()].filter((coordinate) => !after.has(coordinate));
  const required = [...after].filter(
    ([coordinate, { isRequired }]) => isRequired && !before.get(coordinate)?.isRequired,
  );
  const retyped = [...after].filter(([coordinate, { type }]) => (before.get(coordinate)?.type ?? type) !== type);
  return [
    ...gone.map((coordinate) => ({ coordinate, message: 'It was removed' })),
    ...required
      .filter(([, { operation }]) => before.has(operation))
      .map(([coordinate]) => ({ coordinate, message: 'It must be given now' })),
    ...retyped.map(([coordinate, { type }]) => ({
      coordinate,
      message: `Its type went from ${before.get(coordinate)?.type} to ${type}`,
    })),
  ];
}

/** @param {string} text */
function surfaceOf(text) {
  /** @type {{ paths: Paths, components: { schemas: Record<string, Schema> } }} */
  const { paths, components } = JSON.parse(text);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [] }]) => {
      const operation = `${method.toUpperCase()} ${path}`;
      return [
        element(operation, { operation }),
        ...parameters.map(({ name, required }) =>
          element(`${operation} ${name}`, { operation, isRequired: required === true }),
        ),
      ];
    }),
  );
  return new Map([
    ...operations,
    ...Object.entries(components.schemas).flatMap(([name, schema]) => within(name, schema)),
  ]);
}

/**
 * @param {string} name
 * @param {Schema} schema
 * @returns {ReturnType<typeof element>[]}
 */
function within(name, { properties = {}, type, format, $ref }) {
  return [
    element(name, { type: JSON.stringify({ type, format, $ref }) }),
    ...Object.entries(properties).flatMap(([property, inner]) => within(`${name}.${property}`, inner)),
  ];
}

/**
 * @param {string} coordinate
 * @param {{ operation?: string, isRequired?: boolean, type?: string }} details
 */
function element(coordinate, { operation = '', isRequired = false, type = '' }) {
  return /** @type {const} */ ([coordinate, { operation, isRequired, type }]);
}
