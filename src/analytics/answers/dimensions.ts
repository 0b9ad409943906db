/** The lists of sessions by value: the list's letter in `session_dimensions`, and its column of a session. */
export const DIMENSIONS = {
  browsers: { letter: 'a', column: 'browser' },
  operatingSystems: { letter: 'b', column: 'os' },
  devices: { letter: 'c', column: 'device' },
  screenSizes: { letter: 'd', column: 'screen' },
  languages: { letter: 'e', column: 'language' },
  channels: { letter: 'f', column: 'channel' },
  referrers: { letter: 'g', column: 'referrer' },
  countries: { letter: 'h', column: 'country' },
  utmSources: { letter: 'i', column: 'utm_source' },
  entryPages: { letter: 'j', column: 'entry_page' },
  exitPages: { letter: 'k', column: 'exit_page' },
} as const;
export type Dimension = keyof typeof DIMENSIONS;

/** The letters of the lists that do not contain sessions without a pageview. */
export const NO_PAGE: readonly string[] = [DIMENSIONS.entryPages.letter, DIMENSIONS.exitPages.letter];
