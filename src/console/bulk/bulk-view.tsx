import { useEffect, useRef, useState } from 'preact/hooks';
import { textsOf } from '../edit/allowed-paths.js';
import type { FormValues } from '../edit/form-values.js';
import { formatCount, nameOf } from '../format.js';
import { valueText } from '../keys/filters.js';
import { activeFilters, filterOf, listAddress } from '../keys/list-address.js';
import { handedOverKeys } from '../keys/selection.js';
import { listText } from '../keys/strings.js';
import { Button, QuietButton } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { PageHead } from '../parts/page-head.js';
import { Problem } from '../parts/problem.js';
import { Link, useAddress } from '../router.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { noSuggestions, readSuggestions } from '../suggestions.js';
import { useAction } from '../use-load.js';
import { FieldsToChange } from './fields-to-change.js';
import { Outcomes, resultOf } from './outcomes.js';
import { runBulk, type BulkOutcome, type BulkTarget } from './run-bulk.js';
import { bulkText } from './strings.js';

/** Changes many keys: those selected in the list, or all of a view. */
export function BulkView() {
  const { searchParams: parameters } = useAddress();
  const selected = handedOverKeys();
  const trail = <Link to="/console">{text.nav.keys}</Link>;
  const isSelection = parameters.has('selected');
  if (isSelection && selected.size === 0) {
    return (
      <>
        <PageHead title={bulkText.title} trail={trail} />
        <Empty title={bulkText.nothingSelected}>
          <p>{bulkText.selectFirst}</p>
          <Link class="button" to="/console">
            {bulkText.back}
          </Link>
        </Empty>
      </>
    );
  }
  const target: BulkTarget = isSelection
    ? { keys: new Map([...selected].map(([keyHash, row]) => [keyHash, nameOf(row)])) }
    : { filter: filterOf(parameters) };
  return (
    <>
      <PageHead title={bulkText.title} trail={trail}>
        <Target target={target} parameters={parameters} />
      </PageHead>
      <Change
        target={target}
        orgID={parameters.get('org') ?? undefined}
        back={listAddress(parameters, { selected: undefined })}
      />
    </>
  );
}

function Target({ target, parameters }: { readonly target: BulkTarget; readonly parameters: URLSearchParams }) {
  if ('keys' in target) return <span>{bulkText.selected(formatCount(target.keys.size, 'key'))}</span>;
  const filters = activeFilters(parameters);
  return (
    <span>
      {bulkText.view}{' '}
      {filters.length === 0
        ? bulkText.everything
        : filters.map(([name, value]) => (
            <span key={name + value} class="tag">
              {listText.filterLabels[name]}: {valueText(name, value)}
            </span>
          ))}
    </span>
  );
}

interface Run {
  readonly outcomes: readonly BulkOutcome[];
  readonly isDryRun: boolean;
  readonly isDone: boolean;
}

interface ChangeProps {
  readonly target: BulkTarget;
  readonly orgID: string | undefined;
  readonly back: string;
}

/** A dry run first, then the change itself, each with its progress and a result for each key. */
function Change({ target, orgID, back }: ChangeProps) {
  const client = useClient('service');
  const [patch, setPatch] = useState<FormValues>({});
  const [resetQuota, setResetQuota] = useState(false);
  const [reason, setReason] = useState('');
  const [run, setRun] = useState<Run>();
  const [tried, setTried] = useState<string>();
  const [suggestions, setSuggestions] = useState(noSuggestions);
  const controller = useRef<AbortController>(undefined);
  const { addTags, removeTags, ...fields } = patch;
  const change = { patch: fields, addTags: [...textsOf(addTags)], removeTags: [...textsOf(removeTags)], resetQuota };
  const serialized = JSON.stringify(change);
  const isEmpty = Object.keys(fields).length + change.addTags.length + change.removeTags.length === 0 && !resetQuota;
  useEffect(() => () => controller.current?.abort(), []);
  useEffect(() => {
    void readSuggestions(client, orgID).then(setSuggestions);
  }, [client, orgID]);
  const bulk = useAction(async (isDryRun: boolean) => {
    const outcomes: BulkOutcome[] = [];
    setRun({ outcomes, isDryRun, isDone: false });
    setTried(undefined);
    controller.current = new AbortController();
    const options = { isDryRun, reason: reason || null, signal: controller.current.signal };
    for await (const results of runBulk(client, target, change, options)) {
      outcomes.push(...results);
      setRun({ outcomes: [...outcomes], isDryRun, isDone: false });
    }
    setRun({ outcomes: [...outcomes], isDryRun, isDone: true });
    if (isDryRun) setTried(serialized);
  });
  const count = run?.outcomes.filter(({ isChanged }) => isChanged).length ?? 0;
  const canApply = tried === serialized && count > 0 && !bulk.isRunning;
  return (
    <>
      <section class="panel" aria-labelledby="what">
        <header>
          <h2 id="what">{bulkText.what}</h2>
        </header>
        <div class="body stack">
          <FieldsToChange patch={patch} suggestions={suggestions} onChange={setPatch} />
          {Object.keys(fields).length > 0 && <small>{bulkText.hint}</small>}
          <label class="option">
            <input type="checkbox" checked={resetQuota} onChange={() => setResetQuota(!resetQuota)} />
            <span>{bulkText.reset}</span>
          </label>
          <label class="field">
            {text.reason}
            <input
              maxLength={500}
              value={reason}
              autocomplete="off"
              onInput={(event) => setReason(event.currentTarget.value)}
            />
          </label>
          <Problem error={bulk.error} />
          <div class="actions">
            <Button
              class={canApply ? '' : 'primary'}
              disabled={isEmpty || bulk.isRunning}
              onClick={() => void bulk.run(true)}
            >
              {bulkText.dryRun}
            </Button>
            <Button class={canApply ? 'primary' : ''} disabled={!canApply} onClick={() => void bulk.run(false)}>
              {canApply ? bulkText.apply(formatCount(count, 'key')) : bulkText.noApply}
            </Button>
            {bulk.isRunning && <QuietButton onClick={() => controller.current?.abort()}>{bulkText.stop}</QuietButton>}
            <Link class="button quiet" to={back}>
              {bulkText.back}
            </Link>
            {bulk.isRunning && (
              <progress
                aria-label={bulkText.progress}
                {...('keys' in target && { max: target.keys.size, value: run?.outcomes.length ?? 0 })}
              />
            )}
          </div>
        </div>
      </section>
      <p class="unseen" role="status">
        {run && !bulk.isRunning && resultOf(run.outcomes, run.isDryRun)}
      </p>
      {run && run.outcomes.length > 0 && (
        <Outcomes outcomes={run.outcomes} isDryRun={run.isDryRun} isStopped={!run.isDone && !bulk.isRunning} />
      )}
    </>
  );
}
