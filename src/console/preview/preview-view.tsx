import { useState } from 'preact/hooks';
import { PreviewKeyDocument, type PreviewKeyQuery } from '../../client/client.js';
import { Warnings } from '../parts/warnings.js';
import { parseExactly } from '../edit/form-values.js';
import { Definition } from '../key/definition.js';
import { PageHead } from '../parts/page-head.js';
import { Problem } from '../parts/problem.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { required } from '../results.js';
import { useAction } from '../use-load.js';
import { toPreviewInput } from './rest-names.js';
import { previewText } from './strings.js';

/** Previews a pasted definition: its normal form, its hash and its warnings. Nothing is stored. */
export function PreviewView() {
  const client = useClient('management');
  const [result, setResult] = useState<NonNullable<PreviewKeyQuery['previewKey']>>();
  const [problem, setProblem] = useState<string>();
  const preview = useAction(async (json: string) => {
    setResult(undefined);
    const input = toPreviewInput(parseExactly(json));
    setProblem(input ? undefined : previewText.notJSON);
    if (!input) return;
    const { data, errors } = await client.send(PreviewKeyDocument, { input });
    setResult(required(data.previewKey, errors, text.none));
  });
  return (
    <>
      <PageHead title={text.nav.preview}>{previewText.hint}</PageHead>
      <form
        class="panel body stack"
        onSubmit={(event) => {
          event.preventDefault();
          const json = new FormData(event.currentTarget).get('definition');
          void preview.run(typeof json === 'string' ? json : '');
        }}
      >
        <div class="field">
          <label for="json">{previewText.label}</label>
          <textarea
            id="json"
            name="definition"
            rows={12}
            spellcheck={false}
            placeholder={previewText.example}
            aria-invalid={problem !== undefined}
            aria-describedby="json-hint"
          />
          <small id="json-hint">{previewText.names}</small>
          {problem !== undefined && (
            <p class="issue" role="alert">
              {problem}
            </p>
          )}
        </div>
        <div class="actions">
          <button type="submit" class="primary" disabled={preview.isRunning}>
            {previewText.submit}
          </button>
        </div>
      </form>
      <Problem error={preview.error} />
      <p class="unseen" role="status">
        {result && previewText.announced(result.warnings.length)}
      </p>
      {result && (
        <section class="panel" aria-labelledby="result">
          <header>
            <h2 id="result">{previewText.result}</h2>
          </header>
          <div class="body stack">
            {result.warnings.length === 0 ? <p>{previewText.valid}</p> : <Warnings warnings={result.warnings} />}
            <dl class="facts">
              <dt>{previewText.hash}</dt>
              <dd class="long">
                <code>{result.keyHash}</code>
              </dd>
              <dt>{previewText.identifier}</dt>
              <dd class="long">
                <code>{result.keyID}</code>
              </dd>
            </dl>
            <Definition definition={result.data} />
          </div>
        </section>
      )}
    </>
  );
}
