import { pathText, type Path } from '../lib/errors.js';

/**
 * Formats a path in a definition for GraphQL, where access rights are a list: brackets select an item by its index, or by
 * its label, as in `accessRights["invoices"].limit.rate`. REST has an object with the labels as names.
 */
export function definitionPathText([first, second, ...inside]: Path): string {
  if (first !== 'accessRights' || typeof second !== 'string') {
    return pathText([first, second, ...inside].filter((step) => step !== undefined));
  }
  const rest = pathText(inside);
  const separator = rest === '' || rest.startsWith('[') ? '' : '.';
  return `accessRights[${JSON.stringify(second.slice(0, 64))}]${separator}${rest}`;
}
