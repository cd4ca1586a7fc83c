import { KeyfrontError } from '../../client/errors.js';
import type { ChangeSubscription, TypedDocument } from '../../client/client.js';
import { toAppError, toConnectionError, type ServiceAddress } from './connection.js';
import type { RemotePlace } from './operations.js';

/**
 * Follows a service with the published client, which opens a lost connection again and continues after the last cursor.
 *
 * @param report - receives a line for each lost connection
 * @throws {AppError} if the service rejects the subscription
 * @throws {Error} if the first connection fails
 */
export function createSubscribe(
  { baseURL, headers }: ServiceAddress,
  report: (line: string) => void,
): RemotePlace['subscribe'] {
  return async function* subscribe(text, variables, signal) {
    // Loaded on demand: no other command needs the client, which contains all operations of the schema.
    const { createClient } = await import('../../client/client.js');
    const first = new AbortController();
    let attempts = 0;
    let isOpen = false;
    let failure: Error | undefined;
    const client = createClient({
      url: baseURL.href,
      fetch: async (url, init) => {
        const state = isOpen ? `The connection to ${baseURL.origin} was lost` : `${baseURL.origin} is not available`;
        if ((attempts += 1) > 1) report(`${state}. Reconnecting.`);
        try {
          // `redirect: 'manual'`: the credential must not be sent to another address.
          const sent = { ...init, headers: { ...headers, accept: 'text/event-stream' }, redirect: 'manual' } as const;
          const response = await fetch(url, sent);
          if (!isOpen && !/json|event-stream/.test(response.headers.get('content-type') ?? '')) {
            throw new NotKeyfront(
              `${baseURL.href} is not a Keyfront service (status ${response.status}). Check the URL.`,
            );
          }
          return response;
        } catch (error) {
          if (!isOpen && !signal.aborted) {
            failure = error instanceof NotKeyfront ? error : toConnectionError(baseURL.origin, error, undefined);
            first.abort();
          }
          throw error;
        }
      },
    });
    const document: TypedDocument<ChangeSubscription, typeof variables> = text;
    try {
      for await (const event of client.follow(document, variables, {
        signal: AbortSignal.any([signal, first.signal]),
      })) {
        isOpen = true;
        yield event;
      }
    } catch (error) {
      if (!(error instanceof KeyfrontError)) throw error;
      throw toAppError(error);
    }
    if (failure) throw failure;
  };
}

class NotKeyfront extends Error {}
