import { useState } from 'preact/hooks';
import { formText } from './format.js';
import { useSession, type Kind } from './session.js';
import { text } from './strings.js';

/** The issuer of single sign-on; empty if none is configured. */
const issuer = document.querySelector<HTMLMetaElement>('meta[name=issuer]')?.content ?? '';

/** The form for the credential of a view. The credential stays in memory only. */
export function SignIn({ kind }: { readonly kind: Kind }) {
  const { signIn, isRejected } = useSession();
  const acceptsToken = kind === 'management' && issuer !== '';
  const [problem, setProblem] = useState<string>();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const secret = formText(event.currentTarget, 'credential');
    const wrongKind = secret.startsWith(kind === 'service' ? 'kf_mgt_' : 'kf_svc_');
    if (secret === '') setProblem(text.signIn.empty);
    else if (wrongKind) setProblem(text.signIn.wrongKind[kind]);
    else signIn(kind, secret);
  };
  const shown = problem ?? (isRejected(kind) ? text.signIn.rejected : undefined);
  return (
    <form class="card narrow" onSubmit={submit} autocomplete="off">
      <h2>{text.signIn.title}</h2>
      <p id="needed">
        {text.signIn.needed[kind]} {acceptsToken && text.signIn.issuer(issuer)}
      </p>
      <label for="credential">{acceptsToken ? text.signIn.labelOrToken : text.signIn.label[kind]}</label>
      <input
        id="credential"
        name="credential"
        type="password"
        autocomplete="off"
        spellcheck={false}
        aria-describedby={shown === undefined ? 'needed' : 'needed sign-in-problem'}
        aria-invalid={shown !== undefined}
      />
      {shown !== undefined && (
        <p id="sign-in-problem" class="problem" role="alert">
          {shown}
        </p>
      )}
      <button type="submit">{text.signIn.submit}</button>
      <p class="hint">{text.signIn.kept}</p>
    </form>
  );
}
