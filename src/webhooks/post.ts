import { version } from '../lib/version.js';
import { webhookPlace, type Webhook } from '../webhook.js';
import type { AttemptControl, WebhookMessage } from './message.js';
import { createSender, type Outcome } from './send.js';
import { signedHeaders } from './signature.js';
import type { TargetKind } from './targets.js';

/** Signs a message and sends it once. Never rejects. */
export interface Post {
  (message: WebhookMessage, control: AttemptControl): Promise<Outcome>;
  readonly close: () => void;
}

export interface PostSettings {
  readonly allowed: TargetKind;
  readonly answerWithinMs: number;
  readonly clockMs: () => number;
  /** Opens what was sealed for a place. */
  readonly open: (sealed: Uint8Array, place: string) => string;
}

/** To the receiver of a webhook. Throws INTERNAL where its URL or secret does not open. */
export function createPost(webhook: Webhook, { allowed, answerWithinMs, clockMs, open }: PostSettings): Post {
  const { id, previous } = webhook;
  const url = new URL(open(webhook.sealedURL, webhookPlace(id, 'url')));
  const secret = open(webhook.sealedSecret, webhookPlace(id, 'secret'));
  const older = previous && { secret: open(previous.sealedSecret, webhookPlace(id, 'secret')), until: previous.until };
  const sender = createSender(url, { allowed, answerWithinMs, userAgent: `Keyfront/${version}` });
  const post = ({ id: eventID, body }: WebhookMessage, control: AttemptControl) => {
    const nowMs = clockMs();
    const secrets = older && older.until.getTime() > nowMs ? [secret, older.secret] : [secret];
    const head = { id: eventID, timestamp: Math.floor(nowMs / 1000) };
    return sender.send(signedHeaders(secrets, head, body), body, control);
  };
  return Object.assign(post, { close: sender.close });
}
