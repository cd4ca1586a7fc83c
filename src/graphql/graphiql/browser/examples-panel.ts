import type { ExampleOperation } from './examples.js';

/** A plugin of GraphiQL: the examples in its sidebar, by group. */
export function examplesPlugin(examples: readonly ExampleOperation[], open: (example: ExampleOperation) => void) {
  const { createElement } = React;
  const item = (example: ExampleOperation) =>
    createElement(
      'li',
      { key: example.title },
      createElement('button', { type: 'button', onClick: () => open(example) }, example.title),
    );
  const list = [...new Set(examples.map(({ group }) => group))].flatMap((group) => [
    createElement('h3', { key: group }, group),
    createElement('ul', { key: `${group} list` }, examples.filter((example) => example.group === group).map(item)),
  ]);
  return {
    title: 'Examples',
    icon: () =>
      createElement(
        'svg',
        { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', strokeWidth: 1.5 },
        createElement('path', { d: 'M4 5h16M4 12h16M4 19h10' }),
      ),
    content: () =>
      createElement(
        'section',
        { className: 'examples', 'aria-label': 'Examples' },
        createElement('h2', null, 'Examples'),
        createElement('p', null, 'They use the sample keys, which “npm start -- --sample” imports.'),
        list,
      ),
  };
}
