/** The texts of the preview. */
export const previewText = {
  hint: 'Checks a definition without storing it: its problems, its warnings, and what would be stored.',
  label: 'Definition as JSON',
  names: 'With the names of the REST API (api_id) or of GraphQL (apiID).',
  example: '{ "alias": "Billing", "org_id": "acme", "rate": 100, "per": 60 }',
  submit: 'Check',
  notJSON: 'The text is not a JSON object.',
  result: 'What would be stored',
  hash: 'Key hash',
  identifier: 'Identifier',
  announced: (warnings: number) =>
    warnings === 0 ? 'The definition is valid, without warnings.' : `The definition is valid. Warnings: ${warnings}.`,
  valid: 'The definition is valid, without warnings.',
} as const;
