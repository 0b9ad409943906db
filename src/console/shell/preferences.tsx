import { type MantineColorScheme, NativeSelect, useMantineColorScheme } from '@mantine/core';
import { LANGUAGES, nameOfLanguage } from '../i18n/languages.ts';
import { useSpeech, useText } from '../i18n/use-text.ts';

const SCHEMES = ['auto', 'light', 'dark'] as const satisfies readonly MantineColorScheme[];

/** The language and the colours, kept in this browser. */
export function Preferences() {
  const { shell } = useText();
  const { language, choose } = useSpeech();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <div className="preferences">
      <NativeSelect
        label={shell.language}
        value={language.code}
        data={LANGUAGES.map((code) => ({ value: code, label: nameOfLanguage(code) }))}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      <NativeSelect
        label={shell.scheme}
        value={colorScheme}
        data={SCHEMES.map((value) => ({ value, label: shell[value] }))}
        onChange={(event) => setColorScheme(event.currentTarget.value as MantineColorScheme)}
      />
    </div>
  );
}
