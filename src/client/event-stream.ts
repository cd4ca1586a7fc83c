import { parseJSON } from './json.js';

/**
 * Parses the results in an event stream. Returns after the `complete` event.
 *
 * @param silenceTimeoutMs - milliseconds without data after which `onSilence` is called
 * @throws {Error} if the connection is closed before the `complete` event
 */
export async function* readEventStream(
  body: ReadableStream<Uint8Array>,
  { silenceTimeoutMs, onSilence }: { readonly silenceTimeoutMs: number; readonly onSilence: () => void },
): AsyncGenerator<unknown, void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  try {
    for (;;) {
      // A connection can be lost without an error. The service sends data regularly, so silence means that it is lost.
      const timer = setTimeout(onSilence, silenceTimeoutMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) throw new Error('The connection was closed.');
      text += decoder.decode(value, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const message = text.slice(0, end);
        text = text.slice(end + 2);
        if (message.startsWith('event: complete')) return;
        const data = /^data: ?(.*)$/m.exec(message)?.[1];
        if (data) yield parseJSON(data);
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
