const bytes = [
  'sealed_key_id',
  'jwt_secret',
  'hmac_string',
  'history_link',
  'link',
  'mac',
  'mac_before',
  'secret_hash',
  'sealed',
  'sealed_url',
  'sealed_secret',
  'previous_secret',
];
const integers = [
  ...[
    'id_of_entry',
    'version',
    'last_updated',
    'deleted',
    'expires',
    'is_inactive',
    'quota_used',
    'quota_renews',
    'at',
  ],
  ...['is_reset', 'period_before', 'period_after'],
  ...['sequence', 'version_before', 'version_after', 'quota_used_before_reset', 'created', 'revoked', 'last_used'],
  ...['previous_until', 'paused', 'held_until', 'last_version', 'attempts', 'due', 'failed_at'],
];

/** The type of a column of ours. */
export function typeOf(column: string): 'bytea' | 'bigint' | 'text' {
  if (bytes.includes(column)) return 'bytea';
  return integers.includes(column) ? 'bigint' : 'text';
}

/** Rows that come as an array for each column, from the parameter of the given number on. */
export function unnestRows(name: string, columns: readonly string[], from: number): { sql: string; next: number } {
  const parameters = columns.map((column, index) => `$${from + index}::${typeOf(column)}[]`);
  return { sql: `unnest(${parameters.join(', ')}) AS ${name} (${columns.join(', ')})`, next: from + columns.length };
}
