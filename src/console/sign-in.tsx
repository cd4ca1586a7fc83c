import { useEffect, useRef, useState } from 'preact/hooks';
import { formText } from './format.js';
import { useSession, type Kind } from './session.js';
import { SignOn } from './sign-on.js';
import { Problem } from './parts/problem.js';
import { text } from './strings.js';
import { useAction } from './use-load.js';

/** The issuer of single sign-on; empty if none is configured. */
const issuer = document.querySelector<HTMLMetaElement>('meta[name=issuer]')?.content ?? '';
const acceptsToken = issuer !== '';

/** The form for the credential of a view. The credential stays in memory only. */
export function SignIn({ kind }: { readonly kind: Kind }) {
  const { signIn, isRejected } = useSession();
  const [problem, setProblem] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const attempt = useAction(async (secret: string) => signIn(kind, secret));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const secret = formText(event.currentTarget, 'credential');
    const wrongKind = secret.startsWith(kind === 'service' ? 'kf_mgt_' : 'kf_svc_');
    if (secret === '') return setProblem(text.signIn.empty);
    if (wrongKind) return setProblem(text.signIn.wrongKind[kind]);
    setProblem(undefined);
    void attempt.run(secret);
  };
  const isRefused = attempt.error?.code === 'UNAUTHENTICATED' || (!attempt.error && isRejected(kind));
  const shown = problem ?? (isRefused ? text.signIn.rejected : undefined);
  return (
    <form class="panel sign-in stack" onSubmit={submit} autocomplete="off">
      <div>
        <h2>{text.signIn.title}</h2>
        <p id="needed">
          {text.signIn.needed[kind]} {acceptsToken && text.signIn.issuer(issuer)}
        </p>
      </div>
      <SignOn kind={kind} />
      <div class="field">
        <label for="credential">{acceptsToken ? text.signIn.labelOrToken[kind] : text.signIn.label[kind]}</label>
        <input
          ref={input}
          id="credential"
          name="credential"
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-describedby={shown === undefined ? 'needed' : 'needed sign-in-problem'}
          aria-invalid={shown !== undefined}
        />
        {shown !== undefined && (
          <p id="sign-in-problem" class="issue" role="alert">
            {shown}
          </p>
        )}
        <small>{text.signIn.kept}</small>
      </div>
      {attempt.error && !isRefused && <Problem error={attempt.error} />}
      <button type="submit" class="primary" disabled={attempt.isRunning}>
        {text.signIn.submit}
      </button>
      <div class="footnote">
        <small>{text.signIn.issue}</small>
        <code>{text.signIn.command[kind]}</code>
      </div>
    </form>
  );
}
