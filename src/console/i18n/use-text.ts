import { createContext, useContext, useMemo } from 'react';
import { type Format, formatOf } from './format.ts';
import type { LoadedLanguage } from './languages.ts';
import type { Texts } from './texts.ts';

export interface Speech {
  readonly language: LoadedLanguage;
  /** Changes the language of the whole console. */
  readonly choose: (code: string) => void;
}

const SpeechContext = createContext<Speech | null>(null);
/** Gives a language to everything in it. */
export const SpeechProvider = SpeechContext.Provider;

export function useSpeech(): Speech {
  const speech = useContext(SpeechContext);
  if (speech === null) throw new Error('There is no language around this component.');
  return speech;
}

/** All texts in the person's language: `useText().keys.title`. */
export const useText = (): Texts => useSpeech().language.texts;

/** Numbers and dates as the person's language writes them. */
export function useFormat(): Format {
  const { locale } = useSpeech().language;
  return useMemo(() => formatOf(locale), [locale]);
}
