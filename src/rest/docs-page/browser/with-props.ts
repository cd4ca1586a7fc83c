/** A React component of Swagger UI. */
type WrappedComponent<Props> = (props: Props) => unknown;

/** What Swagger UI passes to a function that wraps one of its components. */
interface SwaggerUISystem<Props> {
  readonly React: { readonly createElement: (component: WrappedComponent<Props>, props: Props) => unknown };
}

/** Returns a wrapper for `wrapComponents` of a plugin, which renders the original component with changed props. */
export function withProps<Props>(change: (props: Props) => Props) {
  return (Original: WrappedComponent<Props>, { React }: SwaggerUISystem<Props>): WrappedComponent<Props> =>
    (props) =>
      React.createElement(Original, change(props));
}
