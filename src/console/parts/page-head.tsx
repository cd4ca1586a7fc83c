import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { text } from '../strings.js';

interface PageHeadProps {
  readonly title: string;
  /** Where the page belongs, as links. */
  readonly trail?: ComponentChildren;
  /** What stands beside the title, such as a state. */
  readonly beside?: ComponentChildren;
  /** A line below the title. */
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}

/** The heading of a page, with what can be done on it. */
export function PageHead({ title, trail, beside, children, actions }: PageHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${text.product}`;
  }, [title]);
  useEffect(() => {
    // What had the focus is gone: a screen reader and the keyboard continue at the heading.
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);
  return (
    <div class="head">
      <div>
        {trail !== undefined && <div class="trail">{trail}</div>}
        <h1 ref={heading} tabIndex={-1}>
          {title} {beside}
        </h1>
        {children !== undefined && <div class="subtitle">{children}</div>}
      </div>
      {actions !== undefined && <div class="actions">{actions}</div>}
    </div>
  );
}
