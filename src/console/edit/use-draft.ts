import { useState } from 'preact/hooks';
import { isSame } from './form-values.js';

/**
 * The text of a field: as it was typed, such as "1." before "1.5", while it stands for the value, and otherwise as `write`
 * makes it of the value. A form that is drawn again so changes nothing that is typed.
 */
export function useDraft(
  value: unknown,
  read: (text: string) => unknown,
  write: (value: unknown) => string,
): readonly [shown: string, setDraft: (text: string) => void] {
  const [draft, setDraft] = useState<string>();
  return [draft !== undefined && isSame(read(draft), value) ? draft : write(value), setDraft];
}
