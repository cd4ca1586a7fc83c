import { exactJSON } from './exact-json.js';

interface ResponseBodyProps {
  readonly content: string;
  readonly contentType?: string;
}
type Component = (props: ResponseBodyProps) => unknown;
interface SwaggerUISystem {
  readonly React: { readonly createElement: (component: Component, props: ResponseBodyProps) => unknown };
}

/** A plugin of Swagger UI that shows integers beyond 2^53 with all their digits, which Swagger UI itself rounds. */
export const exactResponses = {
  wrapComponents: {
    responseBody:
      (Original: Component, { React }: SwaggerUISystem): Component =>
      (props) => {
        const exact = exactJSON(props.content);
        const shown = exact === undefined ? props : { ...props, content: exact, contentType: 'text/plain' };
        return React.createElement(Original, shown);
      },
  },
};
