import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { KeyfrontError } from '../client/client.js';
import { isTransient, toKeyfrontError } from './results.js';
import { useConnection } from './session.js';

/** The state of a request. During a reload, `data` is that of the previous response. */
export interface Loaded<Data> {
  readonly data: Data | undefined;
  readonly error: KeyfrontError | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** Seconds until the next attempt after an error that may pass. */
const retryDelays = [1, 2, 4, 8, 15];

/**
 * Loads data, again whenever an input changes. A response to an earlier input is dropped. After an error that may pass it
 * tries again by itself, at once when the service responds again.
 *
 * @param load - sends the request; the signal aborts when its response is no longer needed
 * @param inputs - the values on which the request depends
 */
export function useLoad<Data>(load: (signal: AbortSignal) => Promise<Data>, inputs: readonly unknown[]): Loaded<Data> {
  const [state, setState] = useState<Omit<Loaded<Data>, 'reload'>>({
    data: undefined,
    error: undefined,
    isLoading: true,
  });
  const [attempt, setAttempt] = useState(0);
  // Before the browser paints, which takes tens of milliseconds.
  useLayoutEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setState(({ data }) => ({ data, error: undefined, isLoading: true }));
    load(signal).then(
      (data) => signal.aborted || setState({ data, error: undefined, isLoading: false }),
      (error: unknown) => signal.aborted || setState(({ data }) => failed(data, toKeyfrontError(error))),
    );
    return () => controller.abort();
  }, [...inputs, attempt]);
  const reload = useCallback(() => setAttempt((count) => count + 1), []);
  const failures = useRef(0);
  const { isDown } = useConnection();
  useEffect(() => {
    if (state.data !== undefined) failures.current = 0;
    if (!isTransient(state.error)) return undefined;
    const seconds = state.error?.retryAfterSeconds ?? retryDelays[failures.current] ?? 15;
    failures.current += 1;
    const timer = setTimeout(reload, seconds * 1000);
    return () => clearTimeout(timer);
  }, [state.error]);
  useEffect(() => {
    if (!isDown && isTransient(state.error)) reload();
  }, [isDown]);
  return { ...state, reload };
}

/** The state after an error: what is shown stays while the service does not respond. */
function failed<Data>(data: Data | undefined, error: KeyfrontError): Omit<Loaded<Data>, 'reload'> {
  return { data: isTransient(error) ? data : undefined, error, isLoading: false };
}

/** The state of an action that the user starts. */
export interface UserAction<Arguments extends readonly unknown[]> {
  readonly run: (...values: Arguments) => Promise<void>;
  readonly error: KeyfrontError | undefined;
  readonly isRunning: boolean;
}

/** Runs an action and keeps its error. */
export function useAction<Arguments extends readonly unknown[]>(
  act: (...values: Arguments) => Promise<void>,
): UserAction<Arguments> {
  const [error, setError] = useState<KeyfrontError>();
  const [isRunning, setIsRunning] = useState(false);
  const run = async (...values: Arguments) => {
    setIsRunning(true);
    setError(undefined);
    try {
      await act(...values);
    } catch (caught) {
      // The user has stopped the action.
      if (!(caught instanceof DOMException && caught.name === 'AbortError')) setError(toKeyfrontError(caught));
    } finally {
      setIsRunning(false);
    }
  };
  return { run, error, isRunning };
}
