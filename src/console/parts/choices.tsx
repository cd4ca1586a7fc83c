import type { ComponentChildren } from 'preact';

interface ChoicesProps<Value extends string> {
  readonly offered: readonly Value[];
  readonly chosen: readonly Value[];
  readonly onChange: (chosen: readonly Value[]) => void;
  /** What is wrong with the choice, after the form was submitted. */
  readonly problem?: string | undefined;
  readonly class?: string;
  /** What stands beside the checkbox of a value. */
  readonly children: (value: Value) => ComponentChildren;
}

/** Checkboxes, by default in a grid. What is chosen is in the order in which it is offered. */
export function Choices<Value extends string>(props: ChoicesProps<Value>) {
  const { offered, chosen, onChange, problem, class: className = 'options-grid', children } = props;
  return (
    <>
      <div class={className}>
        {offered.map((value) => (
          <label key={value} class="option">
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={({ currentTarget: { checked } }) =>
                onChange(offered.filter((one) => (one === value ? checked : chosen.includes(one))))
              }
            />
            <span>{children(value)}</span>
          </label>
        ))}
      </div>
      {problem !== undefined && (
        <p class="issue" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
