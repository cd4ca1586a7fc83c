import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface MenuProps {
  readonly label: ComponentChildren;
  /** The name for a screen reader, if the label is not enough. */
  readonly name?: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A button that opens a panel with further controls. Escape, a click elsewhere and a chosen action close it. */
export function Menu({ label, name, class: className = '', children }: MenuProps) {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const controller = new AbortController();
    const close = () => {
      if (details.current) details.current.open = false;
    };
    const onPointer = ({ target }: Event) => {
      if (target instanceof Node && details.current?.contains(target) === false) close();
    };
    const onKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape' || details.current?.open !== true) return;
      close();
      details.current.querySelector('summary')?.focus();
    };
    addEventListener('pointerdown', onPointer, controller);
    addEventListener('keydown', onKey, controller);
    return () => controller.abort();
  }, []);
  // A panel that would leave the window on the right begins there instead.
  const onToggle = () => {
    const panel = details.current?.querySelector('.popover');
    panel?.classList.remove('at-end');
    if (panel && panel.getBoundingClientRect().right > document.documentElement.clientWidth)
      panel.classList.add('at-end');
  };
  const onClick = ({ target }: Event) => {
    const isAction = target instanceof Element && target.closest('[data-closes]') !== null;
    if (isAction && details.current) details.current.open = false;
  };
  return (
    <details ref={details} class={`menu ${className}`} onClick={onClick} onToggle={onToggle}>
      <summary class="button" aria-label={name}>
        {label}
      </summary>
      <div class="popover">{children}</div>
    </details>
  );
}
