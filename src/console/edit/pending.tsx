import { formatCount, formatInteger, formText } from '../format.js';
import { describeChanges } from '../describe-change.js';
import { Reason } from '../parts/dialog.js';
import { Diff } from '../parts/diff.js';
import { QuietButton } from '../parts/button.js';
import { Problem } from '../parts/problem.js';
import { Warnings } from '../parts/warnings.js';
import { text } from '../strings.js';
import type { KeyfrontError } from '../../client/client.js';
import { editText } from './strings.js';
import type { DryRun } from './use-dry-run.js';

const texts = editText.pending;

interface PendingProps {
  readonly dryRun: DryRun;
  readonly isUnchanged: boolean;
  /** Whether another client has saved a version that must be merged first. */
  readonly isOutdated?: boolean;
  readonly isSaving: boolean;
  readonly error: KeyfrontError | undefined;
  readonly onSave: (reason: string | null) => void;
  readonly onCancel: () => void;
}

/** The difference that the form makes, always in view, and the button that saves it. */
export function Pending(props: PendingProps) {
  const { dryRun, isUnchanged, isOutdated = false, isSaving, error, onSave, onCancel } = props;
  const { result, issues, isChecking } = dryRun;
  const changes = isUnchanged ? [] : (result?.changes ?? []);
  const count = describeChanges(changes).length;
  const canSave = count > 0 && !isChecking && issues.length === 0 && !dryRun.error && !isSaving;
  const left = leftOf(dryRun);
  return (
    <form
      class="panel pending"
      aria-labelledby="pending"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(formText(event.currentTarget, 'reason') || null);
      }}
    >
      <header>
        <h2 id="pending">{texts.title}</h2>
        <small role="status">
          {isChecking ? texts.checking : issues.length > 0 ? texts.problems(formatCount(issues.length, 'problem')) : ''}
        </small>
      </header>
      <div class="body stack">
        {count > 0 ? (
          <Diff changes={changes} />
        ) : (
          <p class="quiet-text">{isOutdated ? texts.outdated : texts.nothing}</p>
        )}
        {left !== undefined && <p class="quiet-text">{left}</p>}
        {!isUnchanged && <Warnings warnings={result?.warnings ?? []} />}
        <Problem error={error} />
        <Reason />
        <div class="actions">
          <button type="submit" class="primary" disabled={!canSave}>
            {count > 0 ? texts.save(count) : texts.noSave}
          </button>
          <QuietButton onClick={onCancel}>{text.cancel}</QuietButton>
        </div>
      </div>
    </form>
  );
}

/** How many requests are left before and after the change, if that differs. */
function leftOf({ result }: DryRun): string | undefined {
  const effect = result?.quotaEffect;
  if (!effect || String(effect.before.remaining) === String(effect.after.remaining)) return undefined;
  const shown = (remaining: number | string | null) =>
    remaining === null ? text.quota.unlimited.toLowerCase() : formatInteger(remaining);
  return texts.quota(shown(effect.before.remaining), shown(effect.after.remaining));
}
