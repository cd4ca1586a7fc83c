const receipt = { isReceived: true };

/** The channel between the page that has started a sign-on and the one to which the issuer returns. Only both know the state. */
export function channelOf(state: string): BroadcastChannel {
  return new BroadcastChannel(`keyfront sign-on ${state}`);
}

/**
 * Waits for the response of the issuer to the sign-on with this state.
 *
 * @throws {unknown} the reason of the signal when it is aborted
 */
export function responseTo(state: string, signal: AbortSignal): Promise<URLSearchParams> {
  const channel = channelOf(state);
  return new Promise<URLSearchParams>((resolve, reject) => {
    const stop = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (typeof data !== 'string') return;
      channel.postMessage(receipt);
      resolve(new URLSearchParams(data));
    });
  }).finally(() => channel.close());
}

/** Whether a message says that the response has arrived. */
export function isReceipt(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'isReceived' in message;
}
