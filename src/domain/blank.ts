/**
 * White space, and characters that are drawn as nothing or as an empty cell: zero-width spaces, soft hyphens, marks of
 * direction, and fillers.
 */
const BLANK =
  /\u034f|\u17b4|\u17b5|[\u180b-\u180f]|[\s\u00ad\u061c\u115f\u1160\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\uffa0\ufff0-\ufff8]/;
/** They change the character before them: they are blank only where there is none. Tags, which end the flags of regions, stay. */
const CHANGES_BEFORE = /[\u200d\ufe00-\ufe0f]/;

/** Returns the text without blanks at its ends, in linear time. */
export function trimBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && (isBlank(text, start) || CHANGES_BEFORE.test(text.charAt(start)))) start++;
  while (end > start && isBlank(text, end - 1)) end--;
  return text.slice(start, end);
}

const isBlank = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  // Most texts begin and end with a letter or digit of ASCII.
  return code > 0x20 && code < 0x7f ? false : BLANK.test(text.charAt(at));
};
