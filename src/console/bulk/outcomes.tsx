import { Diff } from '../parts/diff.js';
import { sentenceOf } from '../fields.js';
import { formatCount, formatInteger } from '../format.js';
import { keyAddress } from '../key-address.js';
import { Button, download } from '../parts/button.js';
import { Link } from '../router.js';
import { text } from '../strings.js';
import type { BulkOutcome } from './run-bulk.js';
import { bulkText } from './strings.js';

const texts = bulkText.results;
const maxShown = 200;

interface OutcomesProps {
  readonly outcomes: readonly BulkOutcome[];
  readonly isDryRun: boolean;
  readonly isStopped: boolean;
}

/** The result for each key. That of a dry run says so, and looks different. */
export function Outcomes({ outcomes, isDryRun, isStopped }: OutcomesProps) {
  return (
    <section class={isDryRun ? 'panel dry-run' : 'panel'} aria-labelledby="outcomes">
      <header>
        <h2 id="outcomes">{isDryRun ? texts.dryTitle : texts.title}</h2>
        <Button onClick={() => download('keyfront-bulk.json', JSON.stringify(outcomes, null, 2), 'application/json')}>
          {texts.download}
        </Button>
      </header>
      <p class="body">
        {isStopped && !isDryRun && <b>{texts.stopped} </b>}
        {resultOf(outcomes, isDryRun)}
      </p>
      <table class="outcomes" aria-labelledby="outcomes">
        <thead>
          <tr>
            <th scope="col">{texts.key}</th>
            <th scope="col">{texts.change}</th>
          </tr>
        </thead>
        <tbody>
          {outcomes.slice(0, maxShown).map((outcome) => (
            <tr key={outcome.keyHash}>
              <th scope="row">
                <Link to={keyAddress(outcome.keyHash)}>{outcome.name}</Link>
              </th>
              <td>
                <Effect {...outcome} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {outcomes.length > maxShown && <p class="body">{texts.shown(formatInteger(maxShown))}</p>}
    </section>
  );
}

/** How many keys changed, stayed as they are, and failed. */
export function resultOf(outcomes: readonly BulkOutcome[], isDryRun: boolean): string {
  const failed = outcomes.filter(({ error }) => error).length;
  const changed = outcomes.filter(({ isChanged }) => isChanged).length;
  const same = outcomes.length - failed - changed;
  const parts = [
    (isDryRun ? texts.would : texts.did)(formatCount(changed, 'key')),
    ...(same > 0 ? [(isDryRun ? texts.same : texts.stayed)(formatInteger(same))] : []),
    ...(failed > 0 ? [(isDryRun ? texts.wouldFail : texts.failed)(formatInteger(failed))] : []),
  ];
  return `${parts.join(', ')}.`;
}

function Effect({ error, changes, isChanged }: BulkOutcome) {
  if (error) {
    const problems = error.issues.map(sentenceOf);
    const code = text.errors[error.code as keyof typeof text.errors];
    return (
      <span class="issue">
        {typeof code === 'string' ? code : error.code}: {problems.length > 0 ? problems.join('; ') : error.message}
      </span>
    );
  }
  if (!isChanged) return <small>{texts.noChange}</small>;
  return changes.length > 0 ? <Diff changes={changes} /> : <>{texts.resets}</>;
}
