/**
 * Pairs of JSON texts that Node 24 and 26 misread in this order (https://github.com/nodejs/node/issues/63785): after the
 * first text, `JSON.parse` returns a backslash for the escaped member name of the second.
 */
export const misreadJSON: readonly { readonly first: string; readonly second: string; readonly name: string }[] = [
  { first: String.raw`{"b":"","\\":0,"":0}`, second: String.raw`{"b":"","\u0061":0,"":0}`, name: 'a' },
  { first: String.raw`{"h":[],"\\":0}`, second: String.raw`{"h":1,"\"":2}`, name: '"' },
];
