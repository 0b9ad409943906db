/**
 * White space, and characters that are drawn as nothing or as an empty cell: zero-width spaces, marks of direction, and
 * fillers. The zero-width joiner is none, because it changes the letter before it.
 */
const BLANK =
  /[\s\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\uffa0]/;

/** Returns the text without blanks at its ends, in linear time. */
export function trimBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text, start)) start++;
  while (end > start && isBlank(text, end - 1)) end--;
  return text.slice(start, end);
}

const isBlank = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  // Most texts begin and end with a letter or digit of ASCII.
  return code > 0x20 && code < 0x7f ? false : BLANK.test(text.charAt(at));
};
