import { exactJSON } from './exact-json.js';
import { withProps } from './with-props.js';

interface ResponseBodyProps {
  readonly content: string;
  readonly contentType?: string;
}

/** A plugin of Swagger UI that shows integers beyond 2^53 with all their digits, which Swagger UI itself rounds. */
export const exactResponses = {
  wrapComponents: {
    responseBody: withProps<ResponseBodyProps>((props) => {
      const exact = exactJSON(props.content);
      return exact === undefined ? props : { ...props, content: exact, contentType: 'text/plain' };
    }),
  },
};
