/**
 * The lists of sessions by value: the list's letter in `session_dimensions`, its column of a merged session,
 * and its column of `session_facts`.
 */
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

/** The columns of a campaign, in `sessions` as merged and in `utm_facts`. */
export const UTM_COLUMNS = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const;

/** The letters of the lists that do not contain sessions without a pageview. */
export const NO_PAGE: readonly string[] = [DIMENSIONS.entryPages.letter, DIMENSIONS.exitPages.letter];

/**
 * SQL of a merged session's value in each list, with the list's letter in front. An absent value leaves only
 * the letter.
 */
export const LISTED_WORDS = `[${LISTED.map(({ letter, merged }) => `concat('${letter}', ${merged})`).join(', ')}]`;
export const WORD_COLUMNS = LISTED.map(({ merged }) => merged);
