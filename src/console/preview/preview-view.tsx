import { useState } from 'preact/hooks';
import { PreviewKeyDocument, type PreviewKeyQuery } from '../../client/client.js';
import { Warnings } from '../edit/edit-view.js';
import { parseExactly } from '../edit/form-values.js';
import { Definition } from '../key/definition.js';
import { Problem } from '../parts/problem.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { required, useAction } from '../use-load.js';
import { toPreviewInput } from './rest-names.js';

/** Previews a pasted definition: its normal form, its hash and its warnings. Nothing is stored. */
export function PreviewView() {
  const client = useClient('management');
  const [result, setResult] = useState<NonNullable<PreviewKeyQuery['previewKey']>>();
  const [problem, setProblem] = useState<string>();
  const preview = useAction(async (json: string) => {
    setResult(undefined);
    const input = toPreviewInput(parseExactly(json));
    setProblem(input ? undefined : text.preview.notJSON);
    if (!input) return;
    const { data, errors } = await client.send(PreviewKeyDocument, { input });
    setResult(required(data.previewKey, errors, text.none));
  });
  return (
    <>
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          const json = new FormData(event.currentTarget).get('definition');
          void preview.run(typeof json === 'string' ? json : '');
        }}
      >
        <label for="json">{text.preview.label}</label>
        <textarea
          id="json"
          name="definition"
          rows={12}
          spellcheck={false}
          placeholder={text.preview.example}
          aria-invalid={problem !== undefined}
          aria-describedby="json-hint"
        />
        <p id="json-hint" class="hint">
          {text.preview.hint}
        </p>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" disabled={preview.isRunning}>
          {text.preview.submit}
        </button>
      </form>
      <Problem error={preview.error} />
      {result && (
        <>
          <section class="card" aria-labelledby="result" aria-live="polite">
            <h2 id="result">{text.preview.result}</h2>
            <p>
              {text.preview.hash}: <code>{result.keyHash}</code>
            </p>
            <p>
              {text.key.identifier}: <code>{result.keyID}</code>
            </p>
            {result.warnings.length === 0 ? <p>{text.preview.noWarnings}</p> : <Warnings warnings={result.warnings} />}
          </section>
          <Definition definition={result.data} />
        </>
      )}
    </>
  );
}
