import { useCallback, useEffect, useRef, useState } from 'react';
import type { Data, LiveQuestion, Params } from '../client/index.ts';
import { type Answer, ApiError, type Asked, ask, client, type Route } from './api.ts';

/** An answer on its way: `data` of before stays while the next one is loaded. */
export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

interface State<T> {
  readonly key: string;
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
}

/**
 * Loads when `key` changes, and on `reload`. Loads nothing while `key` is null. Data of another key is not shown,
 * unless `keepsData`.
 */
export function useLoaded<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  { keepsData = false }: { readonly keepsData?: boolean } = {},
): Loaded<T> {
  const [state, setState] = useState<State<T>>({ key: '', data: undefined, error: null, isLoading: true });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `turn` asks again for the same key.
  useEffect(() => {
    if (key === null) return;
    const stop = new AbortController();
    setState((before) => ({
      key,
      data: keepsData || before.key === key ? before.data : undefined,
      error: null,
      isLoading: true,
    }));
    latest.current(stop.signal).then(
      (data) => {
        if (!stop.signal.aborted) setState({ key, data, error: null, isLoading: false });
      },
      (error: unknown) => {
        if (!stop.signal.aborted) setState((before) => ({ ...before, error, isLoading: false }));
      },
    );
    return () => stop.abort();
  }, [key, turn, keepsData]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const { data, error, isLoading } = state;
  return { data, error, isLoading, reload };
}

/** The answer to a GET of the console's own API. */
export function useAnswer<R extends Extract<Route, `GET ${string}`>>(
  route: R,
  params?: Asked<R>['params'],
): Loaded<Answer<R>> {
  return useLoaded(`${route} ${JSON.stringify(params ?? {})}`, (signal) =>
    ask(route, params === undefined ? { signal } : { params, signal }),
  );
}

type Asks<Q extends LiveQuestion> = (
  params: Params<Q> | null,
  options: object,
) => Promise<{ readonly data: Data<Q> }>;

const keyOf = <Q extends LiveQuestion>(question: Q, params: Params<Q>): string =>
  `${question} ${JSON.stringify(params)}`;

/** Answers to questions that were asked before their page was there. Each is taken once. */
const begun = new Map<string, Promise<{ readonly data: unknown }>>();

/** Asks a question that the page of the address will ask. Its scripts and the session load meanwhile. */
export function beginQuestion<Q extends LiveQuestion>(question: Q, params: Params<Q>): void {
  const key = keyOf(question, params);
  const asked = (client[question] as Asks<Q>)(params, {});
  begun.set(key, asked);
  // The page asks again: somebody may have signed in meanwhile.
  asked.catch(() => begun.delete(key));
}

function taken<Q extends LiveQuestion>(key: string): Promise<{ readonly data: Data<Q> }> | undefined {
  const asked = begun.get(key) as Promise<{ readonly data: Data<Q> }> | undefined;
  begun.delete(key);
  return asked;
}

/** Asks the Public API once per change of the parameters: `usePublic('listPageviews', { appId, from, to })`. */
export function usePublic<Q extends LiveQuestion>(
  question: Q,
  params: Params<Q> | null,
  options: { readonly keepsData?: boolean } = {},
): Loaded<Data<Q>> {
  const key = params === null ? null : keyOf(question, params);
  return useLoaded(
    key,
    async (signal) => {
      const asks = client[question] as Asks<Q>;
      return (await (taken<Q>(key ?? '') ?? asks(params, { signal }))).data;
    },
    options,
  );
}

/**
 * Streams the answer of a question while the page is visible. A browser opens only six connections to a host, for all
 * its tabs together: use one stream per page, and ask the other questions again (`reload`) when it brings something.
 */
export function useLive<Q extends LiveQuestion>(question: Q, params: Params<Q> | null): Loaded<Data<Q>> {
  const [state, setState] = useState<{ readonly data: Data<Q> | undefined; readonly error: unknown }>({
    data: undefined,
    error: null,
  });
  const [turn, setTurn] = useState(0);
  const isVisible = useVisible();
  const key = params === null ? null : JSON.stringify(params);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `turn` connects again.
  useEffect(() => {
    if (key === null || !isVisible) return;
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      const answers = client.live(question, JSON.parse(key) as Params<Q>, { signal: stop.signal });
      for await (const { data } of answers) setState({ data, error: null });
    };
    follow().catch((error: unknown) => setState((before) => ({ ...before, error })));
    return () => stop.abort();
  }, [question, key, isVisible, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  return { ...state, isLoading: state.data === undefined && state.error === null, reload };
}

/** True while a person can see the page. */
export function useVisible(): boolean {
  const [isVisible, setIsVisible] = useState(() => !document.hidden);
  useEffect(() => {
    const see = (): void => setIsVisible(!document.hidden);
    document.addEventListener('visibilitychange', see);
    return () => document.removeEventListener('visibilitychange', see);
  }, []);
  return isVisible;
}

/** Something that a person does by a button: `run` reports whether it succeeded. */
export interface Deed<Args extends readonly unknown[], T> {
  readonly run: (...args: Args) => Promise<T | undefined>;
  readonly isRunning: boolean;
  readonly error: unknown;
  readonly reset: () => void;
}

/** Runs one request at a time. Resolves to undefined after a failure, which is then in `error`. */
export function useDeed<Args extends readonly unknown[], T>(
  work: (...args: Args) => Promise<T>,
): Deed<Args, T> {
  const [isRunning, setIsRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (...args: Args): Promise<T | undefined> => {
    if (isRunning) return undefined;
    setIsRunning(true);
    setError(null);
    try {
      return await work(...args);
    } catch (reason) {
      setError(reason);
      return undefined;
    } finally {
      setIsRunning(false);
    }
  };
  return { run, isRunning, error, reset: () => setError(null) };
}

/** True for an app that the account cannot see. */
export const isNoAccess = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'app_access_denied' || error.code === 'not_found');
