import { useEffect, useRef, useState } from 'preact/hooks';
import { Field } from '../edit/form.js';
import { withValue, type FormValues } from '../edit/form-values.js';
import { formatInteger, formatValue, shortHash } from '../format.js';
import { formFields } from '../generated/form-fields.js';
import { Problem } from '../parts/problem.js';
import { QuietButton } from '../parts/quiet-button.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { useAction } from '../use-load.js';
import { runBulk, type BulkOutcome, type BulkTarget } from './run-bulk.js';

interface BulkProps {
  readonly target: BulkTarget;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

const maxShown = 200;

/** Changes many keys: a dry run first, then the change itself, each with its progress and a result for each key. */
export function Bulk({ target, onDone, onClose }: BulkProps) {
  const client = useClient('service');
  const [patch, setPatch] = useState<FormValues>({});
  const [resetQuota, setResetQuota] = useState(false);
  const [reason, setReason] = useState('');
  const [outcomes, setOutcomes] = useState<readonly BulkOutcome[]>([]);
  const [predicted, setPredicted] = useState<string>();
  const controller = useRef<AbortController>(undefined);
  const change = { patch, resetQuota };
  const serializedChange = JSON.stringify([target, change]);
  const isEmpty = Object.keys(patch).length === 0 && !resetQuota;
  useEffect(() => () => controller.current?.abort(), []);
  const bulk = useAction(async (isDryRun: boolean) => {
    setOutcomes([]);
    setPredicted(undefined);
    controller.current = new AbortController();
    const options = { isDryRun, reason: reason || null, signal: controller.current.signal };
    for await (const results of runBulk(client, target, change, options)) setOutcomes((all) => [...all, ...results]);
    if (isDryRun) setPredicted(serializedChange);
    else onDone();
  });
  const failed = outcomes.filter(({ error }) => error).length;
  return (
    <section class="card" aria-labelledby="bulk">
      <h2 id="bulk">{text.bulk.title}</h2>
      <p>{'filter' in target ? text.bulk.filtered : text.bulk.selected(target.keyHashes.length)}</p>
      <label>
        {text.bulk.addField}{' '}
        <select
          value=""
          onChange={({ currentTarget }) => setPatch((fields) => ({ ...fields, [currentTarget.value]: null }))}
        >
          <option value="">{text.bulk.choose}</option>
          {formFields
            .filter(({ name, isEditable }) => isEditable && !(name in patch))
            .map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
        </select>
      </label>
      {formFields
        .filter(({ name }) => name in patch)
        .map((field) => (
          <Field
            key={field.name}
            field={field}
            path={field.name}
            value={patch[field.name] ?? undefined}
            issues={[]}
            // An empty field is removed from the keys.
            onChange={(value) => setPatch((fields) => withValue(fields, field.name, value ?? null))}
          />
        ))}
      <p class="hint">{text.bulk.hint}</p>
      <label class="option">
        <input type="checkbox" checked={resetQuota} onChange={() => setResetQuota(!resetQuota)} /> {text.bulk.reset}
      </label>
      <label>
        {text.reason}{' '}
        <input
          maxLength={500}
          value={reason}
          autocomplete="off"
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
      <Problem error={bulk.error} />
      <div class="bar">
        <button type="button" disabled={isEmpty || bulk.isRunning} onClick={() => void bulk.run(true)}>
          {text.bulk.dryRun}
        </button>
        <button
          type="button"
          disabled={predicted !== serializedChange || bulk.isRunning}
          onClick={() => void bulk.run(false)}
        >
          {text.bulk.apply}
        </button>
        {bulk.isRunning && <QuietButton onClick={() => controller.current?.abort()}>{text.bulk.stop}</QuietButton>}
        <QuietButton onClick={onClose}>{text.bulk.close}</QuietButton>
        {bulk.isRunning && (
          <progress
            aria-label={text.bulk.progress}
            {...('keyHashes' in target && { max: target.keyHashes.length, value: outcomes.length })}
          />
        )}
        <span role="status">
          {outcomes.length > 0 && text.bulk.done(formatInteger(outcomes.length), formatInteger(failed))}
        </span>
        {outcomes.length > 0 && !bulk.isRunning && (
          <QuietButton onClick={() => download(outcomes)}>{text.bulk.download}</QuietButton>
        )}
      </div>
      {outcomes.length > 0 && <Outcomes outcomes={outcomes.slice(0, maxShown)} />}
    </section>
  );
}

function Outcomes({ outcomes }: { readonly outcomes: readonly BulkOutcome[] }) {
  return (
    <div class="scroller" role="region" aria-label={text.bulk.results} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{text.keys.columns.keyHash}</th>
            <th scope="col">{text.bulk.result}</th>
          </tr>
        </thead>
        <tbody>
          {outcomes.map(({ keyHash, changes, quotaEffect, error }) => (
            <tr key={keyHash}>
              <th scope="row">
                <code>{shortHash(keyHash)}</code>
              </th>
              <td class={error && 'problem'}>
                {error
                  ? `${error.code}: ${error.message}`
                  : changes.map(({ path, before, after }) => (
                      <div key={path}>
                        <code>{path}</code> <del>{formatValue(before)}</del> <ins>{formatValue(after)}</ins>
                      </div>
                    ))}
                {quotaEffect}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function download(outcomes: readonly BulkOutcome[]): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([JSON.stringify(outcomes, null, 2)], { type: 'application/json' }));
  link.download = 'keyfront-bulk.json';
  link.click();
  URL.revokeObjectURL(link.href);
}
