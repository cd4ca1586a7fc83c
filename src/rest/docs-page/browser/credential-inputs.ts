interface InputProps {
  readonly id?: string;
}
type Component = (props: InputProps) => unknown;
interface SwaggerUISystem {
  readonly React: { readonly createElement: (component: Component, props: InputProps) => unknown };
}

/** The inputs of the form behind "Authorize", by the ids that Swagger UI gives them. */
const credentialInputs: Readonly<Record<string, object>> = {
  'auth-bearer-value': { 'aria-label': 'Management credential', autoFocus: true },
  api_key_value: { 'aria-label': 'Service credential', autoFocus: false },
};

/** A plugin of Swagger UI that hides credentials while they are typed, and focuses the first input instead of the last. */
export const hiddenCredentials = {
  wrapComponents: {
    Input:
      (Original: Component, { React }: SwaggerUISystem): Component =>
      (props) => {
        const ownProps = credentialInputs[props.id ?? ''];
        const changed =
          ownProps === undefined ? props : { ...props, ...ownProps, type: 'password', autoComplete: 'off' };
        return React.createElement(Original, changed);
      },
  },
};
