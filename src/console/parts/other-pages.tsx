import { useEffect, useState } from 'preact/hooks';
import { text } from '../strings.js';

/** Links to GraphiQL and the REST documentation, if the service has them: they have a setting of their own. */
export function OtherPages() {
  const [areServed, setAreServed] = useState(false);
  useEffect(() => {
    fetch('/docs', { method: 'HEAD' }).then(
      ({ ok }) => setAreServed(ok),
      () => undefined,
    );
  }, []);
  if (!areServed) return null;
  return (
    <>
      <a href="/">{text.graphiql}</a>
      <a href="/docs">{text.restDocuments}</a>
    </>
  );
}
