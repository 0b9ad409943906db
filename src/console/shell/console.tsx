import { DirectionProvider, MantineProvider } from '@mantine/core';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { chooseLanguage, type LoadedLanguage } from '../i18n/languages.ts';
import { SpeechProvider } from '../i18n/use-text.ts';
import { THEME } from './theme.ts';

/**
 * Everything around the pages. Mantine would write its variables into a style element, which the policy of the page
 * forbids: mantine.css brings them as a file.
 */
export function Console({
  language: first,
  children,
}: {
  readonly language: LoadedLanguage;
  readonly children: ReactNode;
}) {
  const [language, setLanguage] = useState(first);
  const choose = useCallback((code: string) => void chooseLanguage(code).then(setLanguage), []);
  const speech = useMemo(() => ({ language, choose }), [language, choose]);
  return (
    <DirectionProvider key={language.direction} initialDirection={language.direction} detectDirection={false}>
      <MantineProvider
        theme={THEME}
        defaultColorScheme="auto"
        withCssVariables={false}
        withGlobalClasses={false}
        withStaticClasses={false}
      >
        <SpeechProvider value={speech}>{children}</SpeechProvider>
      </MantineProvider>
    </DirectionProvider>
  );
}
