import { useCallback, useEffect, useRef, useState } from 'react';
import type { Data, LiveQuestion, Params } from '../client/index.ts';
import { type Answer, ApiError, type Asked, ask, client, hear, type Route } from './api.ts';

/** An answer on its way: `data` of before stays while the same question is asked again. */
export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

export interface LoadOptions {
  /** False: the question is not asked now, such as that of a panel out of view. What is known stays. */
  readonly isAsked?: boolean;
  /** Data of another key with the same `like` stay until those of this one are here: for a range that moves with the clock. */
  readonly like?: string | undefined;
}

interface State<T> {
  readonly key: string | null;
  readonly like: string | undefined;
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
}

const NOTHING: State<never> = { key: null, like: undefined, data: undefined, error: null, isLoading: true };

const isShown = (state: State<unknown>, key: string | null, like: string | undefined): boolean =>
  state.key === key || (like !== undefined && state.like === like);

/** Loads when `key` changes, and on `reload`. Loads nothing while `key` is null. Never shows data of another key. */
export function useLoaded<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  { isAsked = true, like }: LoadOptions = {},
): Loaded<T> {
  const [state, setState] = useState<State<T>>(NOTHING);
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `turn` asks again for the same key.
  useEffect(() => {
    if (key === null || !isAsked) return;
    const stop = new AbortController();
    setState((before) => ({
      key,
      like,
      data: isShown(before, key, like) ? before.data : undefined,
      error: null,
      isLoading: true,
    }));
    latest.current(stop.signal).then(
      (data) => {
        if (!stop.signal.aborted) setState({ key, like, data, error: null, isLoading: false });
      },
      (error: unknown) => {
        if (!stop.signal.aborted) setState((before) => ({ ...before, error, isLoading: false }));
      },
    );
    return () => stop.abort();
  }, [key, turn, isAsked, like]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  // A render with a new key comes before its effect.
  const isOwn = key !== null && state.key === key;
  return {
    data: key !== null && isShown(state, key, like) ? state.data : undefined,
    error: isOwn ? state.error : null,
    isLoading: !isOwn || state.isLoading,
    reload,
  };
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
  options: LoadOptions = {},
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

/** A streamed answer. */
export interface Streamed<T> extends Loaded<T> {
  /** False while the stream is interrupted. The data are then those of before. */
  readonly isConnected: boolean;
}

interface StreamState<T> {
  readonly key: string | null;
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isConnected: boolean;
}

const NO_STREAM: StreamState<never> = { key: null, data: undefined, error: null, isConnected: false };

/**
 * Streams the answer of a question while it `isAsked` and the page is visible; what it brought stays. A browser opens only six connections to a host, for all
 * its tabs together: use one stream per page, and ask the other questions again (`reload`) when it brings something.
 */
export function useLive<Q extends LiveQuestion>(
  question: Q,
  params: Params<Q> | null,
  isAsked = true,
): Streamed<Data<Q>> {
  const [state, setState] = useState<StreamState<Data<Q>>>(NO_STREAM);
  const [turn, setTurn] = useState(0);
  const isVisible = useVisible();
  const key = params === null ? null : JSON.stringify(params);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `turn` connects again.
  useEffect(() => {
    if (key === null || !isVisible || !isAsked) return;
    const stop = new AbortController();
    const { signal } = stop;
    const change = (part: Partial<StreamState<Data<Q>>>): void => {
      if (!signal.aborted)
        setState((before) => ({ ...(before.key === key ? before : NO_STREAM), key, ...part }));
    };
    const onConnection = ({ isConnected }: { readonly isConnected: boolean }): void =>
      change({ isConnected });
    const follow = async (): Promise<void> => {
      const answers = client.live(question, JSON.parse(key) as Params<Q>, { signal, onConnection });
      for await (const { data } of answers) change({ data, error: null });
    };
    follow().catch((error: unknown) => {
      if (!signal.aborted) hear(error);
      change({ error, isConnected: false });
    });
    return () => {
      change({ isConnected: false });
      stop.abort();
    };
  }, [question, key, isVisible, isAsked, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const { data, error, isConnected } = key !== null && state.key === key ? state : NO_STREAM;
  return { data, error, isConnected, isLoading: data === undefined && error === null, reload };
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
