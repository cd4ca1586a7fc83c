/** Defined by `swagger-ui-bundle.js`, which loads before our script. */
declare const SwaggerUIBundle: (options: Record<string, unknown>) => {
  readonly preauthorizeApiKey: (scheme: string, apiKey: string) => void;
};
