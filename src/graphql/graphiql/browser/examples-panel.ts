import type { ExampleOperation } from './examples.js';

/** The name of an operation, which is the title of its tab. */
export function nameOf({ query }: Pick<ExampleOperation, 'query'>): string {
  return /^(?:query|mutation|subscription) (\w+)/m.exec(query)?.[1] ?? '';
}

/** The examples of which the title, the group or the operation contains each word of the search. */
export function searchExamples(examples: readonly ExampleOperation[], search: string): readonly ExampleOperation[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return examples.filter(({ group, title, query }) => {
    const text = `${group} ${title} ${query}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** A plugin of GraphiQL: the examples in its sidebar, by group, with a search. */
export function examplesPlugin(examples: readonly ExampleOperation[], open: (example: ExampleOperation) => void) {
  return {
    title: 'Examples',
    icon: () =>
      React.createElement(
        'svg',
        { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', strokeWidth: 1.5 },
        React.createElement('path', { d: 'M4 5h16M4 12h16M4 19h10' }),
      ),
    content: () => {
      const [search, setSearch] = React.useState('');
      const found = searchExamples(examples, search);
      const groups = [...new Set(found.map(({ group }) => group))];
      const item = (example: ExampleOperation) =>
        React.createElement(
          'li',
          { key: nameOf(example) },
          React.createElement(
            'button',
            { type: 'button', 'data-example': nameOf(example), onClick: () => open(example) },
            example.title,
          ),
        );
      return React.createElement(
        'section',
        { className: 'examples', 'aria-label': 'Examples' },
        React.createElement('h2', null, 'Examples'),
        React.createElement('input', {
          type: 'search',
          value: search,
          placeholder: 'Search the examples',
          'aria-label': 'Search the examples',
          onChange: (event: { readonly target: { readonly value: string } }) => setSearch(event.target.value),
        }),
        ...groups.map((group) =>
          React.createElement(
            'div',
            { key: group },
            React.createElement('h3', null, group),
            React.createElement('ul', null, ...found.filter((example) => example.group === group).map(item)),
          ),
        ),
        found.length === 0 ? React.createElement('p', { role: 'status' }, `No example matches “${search}”.`) : null,
      );
    },
  };
}
