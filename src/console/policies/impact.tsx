import type { KeysOfPolicyImpactQuery } from '../../client/client.js';
import type { FormValues } from '../edit/form-values.js';
import { formatCount, nameOf } from '../format.js';
import { keyAddress } from '../key-address.js';
import { Button, CopyButton, download } from '../parts/button.js';
import { Diff } from '../parts/diff.js';
import type { NodeOf } from '../results.js';
import { Link } from '../router.js';
import { text } from '../strings.js';
import { toFileLine } from './policy-file.js';
import { policiesText } from './strings.js';

const texts = policiesText.impact;

/** A key that a change of a policy would change. */
type ImpactedKey = NodeOf<KeysOfPolicyImpactQuery['impactOfPolicy']>;

/** The keys that were found so far with these values of the policy. */
export interface FoundKeys {
  readonly values: FormValues;
  readonly keys: readonly ImpactedKey[];
  /** Where the next page begins; undefined if all keys were looked at. */
  readonly next: string | undefined;
}

interface ImpactProps {
  readonly found: FoundKeys;
  /** Whether the form has other values by now. */
  readonly isStale: boolean;
  readonly isRunning: boolean;
  readonly onFurther: () => void;
}

/** The keys that a change would change, a page at a time, and how to make it. Looks like a dry run. */
export function Impact({ found, isStale, isRunning, onFurther }: ImpactProps) {
  const { keys, next, values } = found;
  return (
    <section class="panel dry-run" aria-labelledby="impact">
      <header>
        <h2 id="impact">{texts.title}</h2>
      </header>
      <p class="body">
        {sentenceOf(found)} {isStale && <b>{texts.stale}</b>}
      </p>
      {keys.length > 0 && (
        <table class="outcomes" aria-labelledby="impact">
          <thead>
            <tr>
              <th scope="col">{texts.key}</th>
              <th scope="col">{texts.change}</th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <Row key={key.orgKey.keyHash} {...key} />
            ))}
          </tbody>
        </table>
      )}
      {next !== undefined && (
        <div class="body actions">
          <Button disabled={isRunning || isStale} onClick={onFurther}>
            {texts.further}
          </Button>
          <small>{texts.furtherHint}</small>
        </div>
      )}
      {!isStale && <PolicyFile line={toFileLine(values)} />}
    </section>
  );
}

/** How many keys would change. */
export function sentenceOf({ keys: { length }, next }: FoundKeys): string {
  const isPartial = next !== undefined;
  if (length === 0) return isPartial ? texts.noneSoFar : texts.none;
  return (isPartial ? texts.wouldSoFar : texts.would)(formatCount(length, 'key'));
}

function Row({ orgKey, changes }: ImpactedKey) {
  return (
    <tr>
      <th scope="row">
        <Link to={keyAddress(orgKey.keyHash)}>{nameOf(orgKey)}</Link>
        <small>{orgKey.orgID}</small>
      </th>
      <td>
        <Diff changes={changes} />
      </td>
    </tr>
  );
}

/** The policy as a line of a file, because only the command line imports policies. */
function PolicyFile({ line }: { readonly line: string }) {
  const { title, hint, command, label } = policiesText.file;
  return (
    <details class="body raw">
      <summary>{title}</summary>
      <p>
        {hint} <code>{command}</code>
      </p>
      <pre tabIndex={0}>{line}</pre>
      <div class="actions">
        <CopyButton value={line} label={label} />
        <Button onClick={() => download('policies.jsonl', `${line}\n`, 'application/jsonl')}>{text.download}</Button>
      </div>
    </details>
  );
}
