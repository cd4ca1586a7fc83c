/** The head of a table: the labels of its columns, by name. */
export function TableHead({ columns }: { readonly columns: Readonly<Record<string, string>> }) {
  return (
    <thead>
      <tr>
        {Object.entries(columns).map(([column, label]) => (
          <th key={column} scope="col">
            {label}
          </th>
        ))}
      </tr>
    </thead>
  );
}
