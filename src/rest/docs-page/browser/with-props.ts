/** A React component of Swagger UI. */
type WrappedComponent<Props> = (props: Props) => unknown;

/** The system object that Swagger UI passes to a wrapper of a component. */
interface SwaggerUISystem<Props> {
  readonly React: { readonly createElement: (component: WrappedComponent<Props>, props: Props) => unknown };
}

/** Returns a wrapper for `wrapComponents` of a plugin, which renders the original component with changed props. */
export function withProps<Props>(change: (props: Props) => Props) {
  return (Original: WrappedComponent<Props>, { React }: SwaggerUISystem<Props>): WrappedComponent<Props> =>
    (props) =>
      React.createElement(Original, change(props));
}
