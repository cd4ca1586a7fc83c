/**
 * What every answer says, those included that the server gives before a request has reached anybody: nobody keeps a
 * copy, and nobody guesses at its type.
 */
export const everyAnswer = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;
