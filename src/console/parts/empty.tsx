import type { ComponentChildren } from 'preact';

/** What a list shows without an entry: what that means, and what to do first. */
export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="panel empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
