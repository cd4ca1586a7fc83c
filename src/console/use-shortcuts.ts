import { useEffect, useRef } from 'preact/hooks';

/** Calls a function when its key is pressed, unless the focus is in a field, a dialog is open, or a modifier is held. */
export function useShortcuts(shortcuts: Readonly<Record<string, () => void>>): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const { target } = event;
      const isTyping = target instanceof HTMLElement && target.matches('input:not([type=checkbox]), select, textarea');
      if (isTyping || document.querySelector('dialog[open]')) return;
      const act = latest.current[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
