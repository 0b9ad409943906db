/** Lists of sessions by value: the list's letter in `session_dimensions`, and the columns of a merged session and of a fact. */
export const DIMENSIONS = {
  browsers: { letter: 'a', merged: 'browser', fact: 'browser' },
  operatingSystems: { letter: 'b', merged: 'os', fact: 'os' },
  devices: { letter: 'c', merged: 'device', fact: 'device' },
  screenSizes: { letter: 'd', merged: 'screen', fact: 'screen' },
  languages: { letter: 'e', merged: 'language', fact: 'language' },
  channels: { letter: 'f', merged: 'channel', fact: 'channel' },
  referrers: { letter: 'g', merged: 'referrer_host', fact: 'referrer' },
  countries: { letter: 'h', merged: 'country', fact: 'country' },
  utmSources: { letter: 'i', merged: 'utm_source', fact: 'utm_source' },
  entryPages: { letter: 'j', merged: 'entry_path', fact: 'entry_page' },
  exitPages: { letter: 'k', merged: 'exit_path', fact: 'exit_page' },
} as const;
export type Dimension = keyof typeof DIMENSIONS;
export const LISTED = Object.values(DIMENSIONS);

/** The lists that a session without a pageview is not in. */
export const NO_PAGE: readonly string[] = [DIMENSIONS.entryPages.letter, DIMENSIONS.exitPages.letter];

/** Of a merged session: its value in each list, a list's letter in front. Nothing but the letter: it has none. */
export const LISTED_WORDS = `[${LISTED.map(({ letter, merged }) => `concat('${letter}', ${merged})`).join(', ')}]`;
export const WORD_COLUMNS = LISTED.map(({ merged }) => merged);
