import { withProps } from './with-props.js';

interface InputProps {
  readonly id?: string;
}

/** The inputs of the form behind "Authorize", by the ids that Swagger UI gives them. */
const credentialInputs: Readonly<Record<string, object>> = {
  'auth-bearer-value': { 'aria-label': 'Management credential', autoFocus: true },
  api_key_value: { 'aria-label': 'Service credential', autoFocus: false },
};

/** A plugin of Swagger UI that hides credentials while they are typed, and focuses the first input instead of the last. */
export const hiddenCredentials = {
  wrapComponents: {
    Input: withProps<InputProps>((props) => {
      const ownProps = credentialInputs[props.id ?? ''];
      return ownProps === undefined ? props : { ...props, ...ownProps, type: 'password', autoComplete: 'off' };
    }),
  },
};
