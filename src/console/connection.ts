/** What the console knows of its connection to the service. */
export interface ConnectionState {
  /** Whether the last request got no response from the service. */
  readonly isDown: boolean;
  /** Whether changes arrive as they are made; undefined if the page follows none. */
  readonly isLive: boolean | undefined;
}

/** The connection of all clients of the page to the service. */
export interface Connection {
  readonly state: () => ConnectionState;
  /** Calls the listener after each change of the state. Returns a function that ends this. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Sends a request, and notes whether the service responds and whether its event streams are open. */
  readonly fetch: typeof fetch;
  /** States that a page follows changes, until it calls the function that this returns. */
  readonly expectStream: () => () => void;
}

/** Returns a connection that has sent nothing yet. */
export function createConnection(): Connection {
  const listeners = new Set<() => void>();
  let isDown = false;
  let expected = 0;
  let open = 0;
  let state: ConnectionState = { isDown, isLive: undefined };
  const publish = () => {
    const isLive = expected === 0 ? undefined : open >= expected && !isDown;
    if (isDown === state.isDown && isLive === state.isLive) return;
    state = { isDown, isLive };
    for (const listener of listeners) listener();
  };
  const note = (hasResponded: boolean) => {
    isDown = !hasResponded;
    publish();
  };
  return {
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    expectStream: () => {
      expected += 1;
      publish();
      return () => {
        expected -= 1;
        publish();
      };
    },
    fetch: async (input, init) => {
      try {
        const response = await fetch(input, init);
        // A proxy says 502 to 504 in place of the service, whose own responses have an id.
        note(response.status < 502 || response.status > 504 || response.headers.has('x-request-id'));
        if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response;
        open += 1;
        publish();
        return whenEnded(response, () => {
          open -= 1;
          publish();
        });
      } catch (error) {
        if (init?.signal?.aborted !== true) note(false);
        throw error;
      }
    },
  };
}

/** The same response, which calls `onEnd` once when its body ends for any reason. */
function whenEnded(response: Response, onEnd: () => void): Response {
  const reader = response.body?.getReader();
  if (!reader) return response;
  let isEnded = false;
  const end = () => {
    if (!isEnded) onEnd();
    isEnded = true;
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    cancel: (reason) => {
      end();
      return reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
