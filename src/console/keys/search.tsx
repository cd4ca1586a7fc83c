import { useId, useRef, useState } from 'preact/hooks';
import { OrgKeyDocument } from '../../client/client.js';
import { keyAddress } from '../key-address.js';
import { navigate } from '../router.js';
import { useClient } from '../session.js';
import { noSuggestions, readSuggestions } from '../suggestions.js';
import { useShortcuts } from '../use-shortcuts.js';
import { withFilter } from './list-address.js';
import { meaningsOf, type Meaning } from './meanings.js';
import { listText } from './strings.js';

/** The one search field of the list: what is typed can be a name, or any other property that it suggests. */
export function Search({ parameters }: { readonly parameters: URLSearchParams }) {
  const client = useClient('service');
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');
  const [isOpen, setIsOpen] = useState(false);
  const [active, setActive] = useState(0);
  const [problem, setProblem] = useState<string>();
  const [suggestions, setSuggestions] = useState(noSuggestions);
  useShortcuts({ '/': () => input.current?.focus() });
  const meanings = meaningsOf(typed, suggestions);
  const shown = isOpen && meanings.length > 0;
  const load = () => {
    if (suggestions === noSuggestions) {
      void readSuggestions(client, parameters.get('org') ?? undefined).then(setSuggestions);
    }
  };
  const choose = async ({ kind, value }: Meaning) => {
    setIsOpen(false);
    if (kind === 'hash') return navigate(keyAddress(value));
    if (kind === 'id') {
      // An identifier can be a token: it goes into a request, and never into the address.
      const { data } = await client.send(OrgKeyDocument, { by: { keyID: value }, includeDeleted: true, last: 0 });
      if (data.orgKey) return navigate(keyAddress(data.orgKey.keyHash));
      return setProblem(listText.identifierUnknown);
    }
    setTyped('');
    // The shortcuts of the rows work now.
    input.current?.blur();
    navigate(withFilter(parameters, kind, value));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && meanings.length > 0) {
      event.preventDefault();
      setIsOpen(true);
      setActive((index) => (index + step + meanings.length) % meanings.length);
    }
    if (event.key !== 'Escape') return;
    if (shown) setIsOpen(false);
    else input.current?.blur();
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const meaning = meanings[active] ?? meanings[0];
    if (meaning) void choose(meaning).catch(() => setProblem(listText.identifierUnknown));
  };
  return (
    <form class="search" role="search" onSubmit={submit}>
      <input
        ref={input}
        type="search"
        role="combobox"
        list={undefined}
        aria-label={listText.search}
        aria-expanded={shown}
        aria-controls={`${id}-options`}
        aria-autocomplete="list"
        aria-activedescendant={shown ? `${id}-${active}` : undefined}
        placeholder={listText.search}
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onFocus={load}
        onBlur={() => setIsOpen(false)}
        onKeyDown={onKeyDown}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setActive(0);
          setIsOpen(true);
          setProblem(undefined);
        }}
      />
      <kbd aria-hidden="true">/</kbd>
      <ul id={`${id}-options`} role="listbox" aria-label={listText.searchShort} class="options" hidden={!shown}>
        {meanings.map((meaning, index) => (
          <li
            key={`${meaning.kind} ${meaning.value}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            // The field keeps the focus.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => void choose(meaning).catch(() => setProblem(listText.identifierUnknown))}
          >
            <small>{listText.kinds[meaning.kind as keyof typeof listText.kinds]}</small> <b>{meaning.value}</b>
          </li>
        ))}
      </ul>
      {problem !== undefined && (
        <p class="issue" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
