/** How secrets look. */
const secretForms = [
  /\bkf_(mgt|svc)_[0-9A-Za-z]{38}\b/,
  /-----BEGIN ([A-Z]+ )*PRIVATE KEY-----\s*[\w+/]/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\bgh[pousr]_[0-9A-Za-z]{36}\b/,
  /\bgithub_pat_\w{22,}\b/,
  /\bnpm_[0-9A-Za-z]{36}\b/,
  /\bxox[baprs]-[\w-]{10,}/,
  /\bsk_live_[0-9A-Za-z]{16,}/,
  /\bAIza[\w-]{35}\b/,
  /\/\/[^/\s:@'"`$]+:[^/\s:@'"`$]{8,}@[\w.-]+/,
  /"key": ?"[\w+/]{43}="/,
];

/** The lines of a text that look like holding a secret. Fixtures have a comment on the line or the line before. */
export function secretsIn(path: string, text: string): string[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const isFixture = `${lines[index - 1] ?? ''}\n${line}`.includes('secret-scan: fixture');
    // A private key begins on one line and goes on on the next.
    const seen = `${line}\n${lines[index + 1] ?? ''}`;
    return !isFixture && secretForms.some((form) => (form.exec(seen)?.index ?? Infinity) <= line.length)
      ? [`${path}:${index + 1}`]
      : [];
  });
}
