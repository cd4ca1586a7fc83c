import type { ComponentProps } from 'preact';

/** A button beside the main one of its view, without a background. */
export function QuietButton(props: ComponentProps<'button'>) {
  return <button type="button" class="quiet" {...props} />;
}
