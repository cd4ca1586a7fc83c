import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { text } from '../strings.js';
import type { KeyDetails } from './read-key.js';

interface EditPageProps {
  readonly found: KeyDetails;
  readonly onClose: () => void;
}

/** The form of a key, whose script is loaded when it is opened. */
export function EditPage(props: EditPageProps) {
  const [View, setView] = useState<ComponentType<EditPageProps>>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    import('../edit/edit-view.js').then(({ EditView }) => setView(() => EditView), setError);
  }, []);
  if (View) return <View {...props} />;
  return <p role="status">{error === undefined ? text.loading : text.outdated.explanation}</p>;
}
