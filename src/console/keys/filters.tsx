import { formText } from '../format.js';
import { QuietButton } from '../parts/quiet-button.js';
import { navigate } from '../router.js';
import { text } from '../strings.js';
import { filterNames, listAddress } from './list-address.js';

/** The filters of the list. Enter applies them, and the address contains them. */
export function Filters({ parameters }: { readonly parameters: URLSearchParams }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget;
    navigate(listAddress(parameters, Object.fromEntries(filterNames.map((name) => [name, formText(form, name)]))));
  };
  const clear = () =>
    navigate(listAddress(parameters, Object.fromEntries(filterNames.map((name) => [name, undefined]))));
  return (
    // A change of the address replaces values that the user has not applied.
    <form class="filters" role="search" aria-label={text.keys.filters} onSubmit={submit} key={parameters.toString()}>
      {filterNames.map((name) => (
        <label key={name}>
          {text.keys.filterLabels[name]}
          {name === 'state' ? (
            <select name={name} defaultValue={parameters.get(name) ?? ''}>
              <option value="">{text.keys.anyState}</option>
              {Object.entries(text.states).map(([state, label]) => (
                <option key={state} value={state} selected={state === parameters.get(name)}>
                  {label}
                </option>
              ))}
            </select>
          ) : (
            <input
              name={name}
              {...(name === 'expires' && { type: 'date' })}
              defaultValue={parameters.get(name) ?? ''}
            />
          )}
        </label>
      ))}
      <div class="actions">
        <button type="submit">{text.keys.apply}</button>
        <QuietButton onClick={clear}>{text.keys.clear}</QuietButton>
      </div>
    </form>
  );
}
