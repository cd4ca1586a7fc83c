import { useEffect, useId, useState } from 'preact/hooks';
import {
  ExplainOrgKeyDocument,
  type ExplainOrgKeyQuery,
  type ExplainOrgKeyQueryVariables,
  type KeyProof,
} from '../../client/client.js';
import { labelOfPath, sentenceOf } from '../fields.js';
import { formatInteger, formatQuota, formatRate, formatTime, formText } from '../format.js';
import { Button } from '../parts/button.js';
import { Problem } from '../parts/problem.js';
import { policyAddress } from '../policy-address.js';
import { required } from '../results.js';
import { Link } from '../router.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { useAction } from '../use-load.js';
import { withOrigins } from './effective.js';
import type { KeyDetails, SectionProps } from './read-key.js';
import { keyText } from './strings.js';

const texts = keyText.request;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const allProofs: readonly KeyProof[] = ['BASIC', 'JWT', 'HMAC', 'SIGNATURE', 'CERTIFICATE'];
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

type Explanation = NonNullable<ExplainOrgKeyQuery['explainOrgKey']>;
type Reason = Explanation['reasons'][number];
type Question = Omit<ExplainOrgKeyQueryVariables, 'by' | 'version'>;

/** Asks whether a request with this key is allowed, now or at another time, and says why not. */
export function ExplainRequest({ found }: SectionProps) {
  const client = useClient('service');
  const id = useId();
  const { keyHash, version } = found;
  const [asked, setAsked] = useState<Question>();
  const [answer, setAnswer] = useState<Explanation>();
  const check = useAction(async (question: Question) => {
    setAsked(question);
    const { data, errors } = await client.send(ExplainOrgKeyDocument, { by: { keyHash }, ...question });
    setAnswer(required(data.explainOrgKey, errors, text.notFound));
  });
  useEffect(() => {
    // The answer is about the key as it is now.
    if (asked && answer && asked.at == null) void check.run(asked);
  }, [version]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const read = (name: string) => formText(event.currentTarget, name) || null;
    const at = read('at');
    void check.run({
      api: read('api'),
      method: read('method'),
      path: read('path'),
      at: at === null ? null : new Date(at).toISOString(),
    });
  };
  const apis = apisOf(found);
  return (
    <section class="panel" aria-labelledby="request">
      <header>
        <h2 id="request">{texts.title}</h2>
        <small>{texts.hint}</small>
      </header>
      <form class="body call" onSubmit={submit}>
        <div class="field">
          <label for={`${id}-api`}>{texts.api}</label>
          <input
            id={`${id}-api`}
            name="api"
            list={`${id}-apis`}
            autocomplete="off"
            defaultValue={apis[0] ?? ''}
            aria-describedby={`${id}-api-hint`}
          />
          <datalist id={`${id}-apis`}>
            {apis.map((api) => (
              <option key={api} value={api} />
            ))}
          </datalist>
          <small id={`${id}-api-hint`}>{texts.apiHint}</small>
        </div>
        <label>
          {texts.method}
          <select name="method">
            {methods.map((method) => (
              <option key={method}>{method}</option>
            ))}
          </select>
        </label>
        <label>
          {texts.path}
          <input name="path" autocomplete="off" spellcheck={false} defaultValue="/" />
        </label>
        <div class="field">
          <label for={`${id}-at`}>{texts.at}</label>
          <input id={`${id}-at`} name="at" type="datetime-local" step={1} aria-describedby={`${id}-at-hint`} />
          <small id={`${id}-at-hint`}>{texts.atHint(zone)}</small>
        </div>
        <button type="submit" disabled={check.isRunning}>
          {texts.submit}
        </button>
      </form>
      <div class="answer" aria-live="polite">
        {check.error ? (
          <Problem error={check.error} />
        ) : (
          asked &&
          answer && (
            <Answer
              asked={asked}
              answer={answer}
              onProved={() => void check.run({ ...asked, proofs: [...allProofs] })}
              isRunning={check.isRunning}
            />
          )
        )}
      </div>
    </section>
  );
}

/** The names that the gateway has for the APIs of the key. */
function apisOf({ effectiveAccess, definition }: KeyDetails): readonly string[] {
  return effectiveAccess
    ? effectiveAccess.accessRights.map(({ apiID }) => apiID)
    : (definition?.accessRights ?? []).map(({ apiID, label }) => apiID || label);
}

interface AnswerProps {
  readonly asked: Question;
  readonly answer: Explanation;
  readonly onProved: () => void;
  readonly isRunning: boolean;
}

function Answer({ asked, answer, onProved, isRunning }: AnswerProps) {
  const { isAllowed, code, reasons, matchedUrl, right, version, at, quota } = answer;
  const isTimed = asked.at != null;
  const title = isTimed && code === 'NOT_FOUND' ? texts.notFoundThen : texts.codes[code];
  const conditions = [
    ...(isTimed ? [formatTime(at), ...(version === null ? [] : [texts.version(version)])] : []),
    ...(isTimed && Date.parse(at) < Date.now() && version !== null ? [texts.noQuota] : []),
    ...(asked.proofs ? [texts.proved] : []),
  ];
  return (
    <div class="body stack">
      <p>
        <span class={`state ${isAllowed ? 'ok' : 'bad'}`}>{isAllowed ? texts.allowed : texts.denied}</span>{' '}
        <b>{title}</b> <code class="code">{code}</code>
      </p>
      {conditions.length > 0 && <small>{conditions.join(' · ')}</small>}
      {reasons.length > 0 && (
        <ul class="reasons">
          {reasons.map((reason) => (
            <li key={reason.code + reason.message}>
              <Sentence reason={reason} quota={quota} />
            </li>
          ))}
        </ul>
      )}
      {isAllowed && (
        <p>
          {matchedUrl
            ? texts.rule(matchedUrl.methods.join(', '), matchedUrl.url)
            : right
              ? texts.allPaths
              : asked.api == null && texts.noApi}
        </p>
      )}
      {code !== 'NOT_FOUND' && <LimitsOfRequest answer={answer} />}
      {code === 'OTHER_CREDENTIAL_REQUIRED' && (
        <div class="actions">
          <Button disabled={isRunning} onClick={onProved}>
            {texts.withProofs}
          </Button>
        </div>
      )}
    </div>
  );
}

/** A reason, and the policy or the field that it comes from. */
function Sentence({ reason, quota }: { readonly reason: Reason; readonly quota: Explanation['quota'] }) {
  const { path, policyID } = reason;
  const field = path === null ? undefined : labelOfPath(path);
  return (
    <>
      {sentenceOfReason(reason, quota)}{' '}
      {policyID !== null ? (
        <small>
          {texts.policy} <Link to={policyAddress(policyID)}>{policyID}</Link>
        </small>
      ) : (
        field !== undefined && <small>{field}</small>
      )}
    </>
  );
}

/** The reason in words: that of the service, unless it has units that people do not read. */
function sentenceOfReason({ code, message }: Reason, quota: Explanation['quota']): string {
  if (code === 'EXPIRED') return texts.expired;
  if (code === 'QUOTA_EXCEEDED' && quota?.max != null) {
    return texts.exhausted(formatInteger(quota.used), formatInteger(quota.max));
  }
  return sentenceOf({ path: '', message });
}

/** The limits that a gateway applies to the request. */
function LimitsOfRequest({ answer: { limits } }: { readonly answer: Explanation }) {
  const { values, policyOf } = withOrigins(limits);
  const rows = [
    ['rate', keyText.limits.rate, formatRate(values.rate, values.per)],
    ['quotaMax', keyText.limits.quota, formatQuota(values.quotaMax, values.quotaRenewalRate)],
  ] as const;
  return (
    <dl class="facts">
      {rows.map(([field, label, value]) => (
        <>
          <dt key={field}>{label}</dt>
          <dd>
            {value}{' '}
            {policyOf(field) !== undefined && <small>{`${keyText.limits.fromPolicy} ${policyOf(field)}`}</small>}
          </dd>
        </>
      ))}
    </dl>
  );
}
