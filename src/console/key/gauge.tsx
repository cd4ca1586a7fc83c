import { useEffect, useState } from 'preact/hooks';
import { formatCountdown, formatInteger, formatTime, usedShare } from '../format.js';
import { QuietButton } from '../parts/quiet-button.js';
import { text } from '../strings.js';
import type { KeyDetails } from './read-key.js';

interface GaugeProps {
  readonly found: KeyDetails;
  readonly onRenewed: () => void;
  readonly onReset: () => void;
}

const radius = 52;
/** Length of the arc, three quarters of a circle. */
const length = radius * Math.PI * 1.5;

/** The live quota as a gauge, with the time until it renews. */
export function Gauge({ found: { quota }, onRenewed, onReset }: GaugeProps) {
  const share = quota ? usedShare(quota) : undefined;
  return (
    <section class="card" aria-labelledby="quota">
      <h2 id="quota">{text.quota.title}</h2>
      {!quota && <p class="problem">{text.quota.unavailable}</p>}
      {quota && quota.max !== null && share !== undefined && (
        <div class="gauge">
          <svg
            viewBox="0 0 128 112"
            role="img"
            aria-label={text.quota.usedOf(formatInteger(quota.used), formatInteger(quota.max))}
          >
            <circle class="track" cx="64" cy="64" r={radius} stroke-dasharray={`${length} 999`} />
            <circle
              class={share >= 0.9 ? 'fill high' : 'fill'}
              cx="64"
              cy="64"
              r={radius}
              stroke-dasharray={`${length * share} 999`}
            />
            <text x="64" y="70" text-anchor="middle">
              {Math.round(share * 100)} %
            </text>
          </svg>
          <div>
            <p>{text.quota.usedOf(formatInteger(quota.used), formatInteger(quota.max))}</p>
            {quota.remaining !== null && <p>{text.quota.remaining(formatInteger(quota.remaining))}</p>}
            {quota.renewsAt === null ? (
              <p>{text.quota.neverRenews}</p>
            ) : (
              <Countdown key={quota.renewsAt} to={Date.parse(quota.renewsAt) / 1000} onEnd={onRenewed} />
            )}
          </div>
        </div>
      )}
      {quota && quota.max === null && <p>{text.quota.usedUnlimited(formatInteger(quota.used))}</p>}
      <QuietButton onClick={onReset}>{text.quota.reset}</QuietButton>
    </section>
  );
}

/** Counts down to a time in Unix seconds. */
function Countdown({ to, onEnd }: { readonly to: number; readonly onEnd: () => void }) {
  const secondsLeft = () => to - Date.now() / 1000;
  const [left, setLeft] = useState(secondsLeft);
  useEffect(() => {
    if (secondsLeft() <= 0) return undefined;
    const timer = setInterval(() => {
      setLeft(secondsLeft());
      if (secondsLeft() > 0) return;
      clearInterval(timer);
      onEnd();
    }, 1000);
    return () => clearInterval(timer);
  }, [to]);
  return (
    <p>
      {left > 0 ? text.quota.renewsIn : text.quota.renewed}{' '}
      <time role="timer" dateTime={new Date(to * 1000).toISOString()} title={formatTime(to)}>
        {left > 0 ? formatCountdown(left) : ''}
      </time>
    </p>
  );
}
