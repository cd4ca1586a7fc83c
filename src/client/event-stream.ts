import { parseJSON } from './json.js';

/** What a stream of results says, each read from its text. Ends where the service ends it, throws where it breaks or falls silent. */
export async function* resultsIn(
  body: ReadableStream<Uint8Array>,
  { silentAfterMs, onSilent }: { readonly silentAfterMs: number; readonly onSilent: () => void },
): AsyncGenerator<unknown, void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  try {
    for (;;) {
      // The service says something every dozen seconds: a connection that says nothing is gone, and nobody may tell.
      const timer = setTimeout(onSilent, silentAfterMs);
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
