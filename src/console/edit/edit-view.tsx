import { useEffect, useState } from 'preact/hooks';
import { toInput, toPatch, type KeyfrontIssue } from '../../client/client.js';
import { formFields } from '../generated/form-fields.js';
import { readKey, type KeyDetails } from '../key/read-key.js';
import { Problem } from '../parts/problem.js';
import { QuietButton } from '../parts/quiet-button.js';
import { useUnsavedWarning } from '../router.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { useAction } from '../use-load.js';
import { Conflict } from './conflict.js';
import { Form } from './form.js';
import { isSame, type FormValues } from './form-values.js';
import { Review } from './review.js';
import { useCheck } from './use-check.js';

interface EditViewProps {
  readonly found: KeyDetails;
  readonly onClose: () => void;
}

const inputOf = ({ definition }: KeyDetails): FormValues => (definition ? toInput(definition) : {});

/** Edits the definition of a key: form, dry run, and the merge with the changes of others. */
export function EditView({ found, onClose }: EditViewProps) {
  const client = useClient('service');
  const [base, setBase] = useState(found);
  const [newer, setNewer] = useState<KeyDetails>();
  const [values, setValues] = useState(() => inputOf(found));
  const [isReviewing, setIsReviewing] = useState(false);
  const check = useCheck(base.keyHash, values);
  const conflict = useAction(async () => {
    setNewer(await readKey(client, base.keyHash));
    setIsReviewing(false);
  });
  const isUnchanged = isSame(values, inputOf(base));
  const [isSaved, setIsSaved] = useState(false);
  useUnsavedWarning(!isUnchanged && !isSaved);
  useEffect(() => (isSaved ? onClose() : undefined), [isSaved]);
  if (newer) {
    return (
      <Conflict
        version={newer.version}
        base={inputOf(base)}
        mine={values}
        theirs={inputOf(newer)}
        onMerged={(merged) => {
          setBase(newer);
          setValues(merged);
          setNewer(undefined);
        }}
      />
    );
  }
  if (isReviewing) {
    return (
      <>
        <Problem error={conflict.error} />
        <Review
          found={base}
          patch={toPatch(inputOf(base), values)}
          onSaved={() => setIsSaved(true)}
          onConflict={() => void conflict.run()}
          onBack={() => setIsReviewing(false)}
        />
      </>
    );
  }
  return (
    <form
      class="card"
      aria-labelledby="edit"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isUnchanged) setIsReviewing(true);
      }}
    >
      <h2 id="edit">{text.edit.title(base.version)}</h2>
      <Form fields={formFields} values={values} issues={check.issues} onChange={setValues} />
      <Problem error={check.error} />
      <Warnings warnings={check.warnings} />
      <div class="actions sticky">
        <button type="submit" disabled={isUnchanged || check.issues.length > 0}>
          {text.edit.review}
        </button>
        <QuietButton onClick={onClose}>{text.cancel}</QuietButton>
        <span role="status">
          {check.isChecking ? text.edit.checking : text.edit.checked(check.issues.length, check.warnings.length)}
        </span>
      </div>
    </form>
  );
}

/** Warnings about a definition that is valid. */
export function Warnings({ warnings }: { readonly warnings: readonly KeyfrontIssue[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul class="warnings" aria-label={text.edit.warnings}>
      {warnings.map(({ path, message }) => (
        <li key={path + message}>
          <code>{path}</code> {message}
        </li>
      ))}
    </ul>
  );
}
