import { useEffect, useState } from 'preact/hooks';
import { useConnection, useSession } from './session.js';
import { text } from './strings.js';

const retryDelays = [1, 2, 4, 8, 15];

/** States that the service does not respond, asks it again by itself, and states that it is back. */
export function ConnectionBanner() {
  const { connection } = useSession();
  const { isDown } = useConnection();
  const [wasDown, setWasDown] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const probe = () => {
    // A file of the console, which comes by the same way as the page. The connection notes the response.
    const request = connection.fetch('/console/icon.svg', { method: 'HEAD', cache: 'no-store' });
    void request.catch(() => undefined).then(() => setAttempt((count) => count + 1));
  };
  useEffect(() => {
    if (!isDown) {
      setAttempt(0);
      if (!wasDown) return undefined;
      const timer = setTimeout(() => setWasDown(false), 4000);
      return () => clearTimeout(timer);
    }
    setWasDown(true);
    const timer = setTimeout(probe, (retryDelays[attempt] ?? 15) * 1000);
    return () => clearTimeout(timer);
  }, [isDown, attempt, wasDown]);
  return (
    <div role="status" class="connection">
      {isDown && (
        <div class="banner bad">
          <b>{text.connection.down}</b> <span>{text.connection.stale}</span>
          <button type="button" onClick={probe}>
            {text.connection.retry}
          </button>
        </div>
      )}
      {!isDown && wasDown && <div class="banner ok">{text.connection.restored}</div>}
    </div>
  );
}

/** Whether changes appear as they are made. Absent on pages that follow none. */
export function LiveState() {
  const { isLive } = useConnection();
  if (isLive === undefined) return null;
  return (
    <span
      class={isLive ? 'live' : 'live off'}
      role="status"
      title={isLive ? text.connection.liveHint : text.connection.reconnectingHint}
    >
      {isLive ? text.connection.live : text.connection.reconnecting}
    </span>
  );
}
