import { useId, useState } from 'preact/hooks';
import { KeysOfPolicyImpactDocument, type KeyfrontIssue, type KeyPolicyPart } from '../../client/client.js';
import { AccessField } from '../edit/access-field.js';
import { AmountField } from '../edit/amount-field.js';
import { FieldBox, type ControlProps } from '../edit/field.js';
import { Form } from '../edit/form.js';
import { isSame, withValue, type FormValues } from '../edit/form-values.js';
import { editText } from '../edit/strings.js';
import { advancedFields } from '../edit/topics.js';
import { QuietButton } from '../parts/button.js';
import { Choices } from '../parts/choices.js';
import { Problem } from '../parts/problem.js';
import { nodesOf, required } from '../results.js';
import { useClient } from '../session.js';
import { useAction } from '../use-load.js';
import { Impact, sentenceOf, type FoundKeys } from './impact.js';
import { toPolicyInput, valuesOf } from './policy-file.js';
import type { PolicyDetails } from './read-policies.js';
import { policiesText } from './strings.js';

const texts = policiesText.change;
const pageSize = 20;
const day = 86_400;

/** A form with the values of a policy, and the keys whose effective access other values would change. Stores nothing. */
export function ImpactOfChange({ policy }: { readonly policy: PolicyDetails }) {
  const client = useClient('service');
  const stored = valuesOf(policy);
  const [values, setValues] = useState(stored);
  const [found, setFound] = useState<FoundKeys>();
  const look = useAction(async (from?: FoundKeys) => {
    const changed = from?.values ?? values;
    if (!from) setFound(undefined);
    const variables = { policy: toPolicyInput(changed), first: pageSize, after: from?.next ?? null };
    const { data, errors } = await client.send(KeysOfPolicyImpactDocument, variables);
    const connection = required(data.impactOfPolicy, errors, policiesText.notFound);
    const { pageInfo } = connection;
    setFound({
      values: changed,
      keys: [...(from?.keys ?? []), ...nodesOf(connection)],
      next: pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined,
    });
  });
  const issues = (look.error?.code === 'INVALID' ? look.error.issues : []).map(withoutPrefix);
  const isUnchanged = isSame(values, stored);
  return (
    <>
      <section class="panel" aria-labelledby="change">
        <header>
          <h2 id="change">{texts.title}</h2>
          <small>{texts.hint}</small>
        </header>
        <form
          class="body stack"
          onSubmit={(event) => {
            event.preventDefault();
            void look.run();
          }}
        >
          <PolicyForm values={values} issues={issues} onChange={setValues} apis={apisOf(policy)} />
          {issues.length === 0 ? <Problem error={look.error} /> : <OtherIssues issues={issues} />}
          <div class="actions">
            <button type="submit" class="primary" disabled={isUnchanged || look.isRunning}>
              {texts.submit}
            </button>
            {!isUnchanged && (
              <QuietButton
                onClick={() => {
                  setValues(stored);
                  setFound(undefined);
                }}
              >
                {texts.reset}
              </QuietButton>
            )}
          </div>
        </form>
      </section>
      <p class={look.isRunning ? 'quiet-text' : 'unseen'} role="status">
        {look.isRunning ? policiesText.impact.running : found && sentenceOf(found)}
      </p>
      {found && (
        <Impact
          found={found}
          isStale={!isSame(found.values, values)}
          isRunning={look.isRunning}
          onFurther={() => void look.run(found)}
        />
      )}
    </>
  );
}

/** The service names values by their path in its argument. */
function withoutPrefix(issue: KeyfrontIssue): KeyfrontIssue {
  return { ...issue, path: issue.path.replace(/^policy\.?/, '') };
}

/** Says that there are problems, for a screen reader; each stands at its field. */
function OtherIssues({ issues }: { readonly issues: readonly KeyfrontIssue[] }) {
  return (
    <p class="issue" role="alert">
      {texts.problems(issues.length)}
    </p>
  );
}

function apisOf({ values: { accessRights } }: PolicyDetails): readonly string[] {
  return (accessRights ?? []).map(({ apiID, label }) => apiID || label);
}

const parts = Object.keys(texts.partNames) as KeyPolicyPart[];

interface PolicyFormProps {
  readonly values: FormValues;
  readonly issues: readonly KeyfrontIssue[];
  readonly onChange: (values: FormValues) => void;
  readonly apis: readonly string[];
}

function PolicyForm({ values, issues, onChange, apis }: PolicyFormProps) {
  const id = useId();
  const change: ControlProps['onChange'] = (changes) =>
    onChange(Object.entries(changes).reduce((next, [name, value]) => withValue(next, name, value), values));
  const control = { values, issues, onChange: change };
  const governs = Array.isArray(values['governs']) ? (values['governs'] as KeyPolicyPart[]) : parts;
  const throttling = advancedFields().find(([topic]) => topic === 'throttling')?.[1] ?? [];
  return (
    <div class="fields">
      <div class="row">
        <FieldBox id={`${id}-state`} label={texts.state} names={['isInactive']} issues={issues}>
          <select
            id={`${id}-state`}
            data-path="isInactive"
            onChange={(event) => change({ isInactive: event.currentTarget.value === 'off' ? true : undefined })}
          >
            <option value="on" selected={values['isInactive'] !== true}>
              {texts.on}
            </option>
            <option value="off" selected={values['isInactive'] === true}>
              {texts.offOption}
            </option>
          </select>
        </FieldBox>
        <FieldBox label={texts.governs} hint={texts.governsHint} names={['governs']} issues={issues}>
          <Choices offered={parts} chosen={governs} onChange={(chosen) => change({ governs: chosen })} class="choices">
            {(part) => texts.partNames[part]}
          </Choices>
        </FieldBox>
      </div>
      <AmountField
        {...control}
        name="rate"
        period="per"
        texts={editText.rate}
        defaultPeriod={60}
        hint={texts.amountHint}
      />
      <AmountField
        {...control}
        name="quotaMax"
        period="quotaRenewalRate"
        texts={editText.quota}
        defaultPeriod={30 * day}
        hint={texts.amountHint}
      />
      <AccessField {...control} apis={apis} hint={texts.accessHint} />
      <details>
        <summary>{texts.other}</summary>
        <Form fields={throttling} values={values} issues={issues} onChange={onChange} />
      </details>
    </div>
  );
}
