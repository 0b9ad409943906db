/**
 * White space, and characters that are drawn as nothing or as an empty cell: zero-width spaces, soft hyphens, marks of
 * direction, and fillers.
 */
const BLANK =
  /\u034f|\u17b4|\u17b5|[\u180b-\u180f]|[\s\u00ad\u061c\u115f\u1160\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\uffa0\ufff0-\ufff8]/;
/**
 * The same, with those that may change the character before them: joiners, variation selectors and tags. They are blank
 * where there is none, and after a character of ASCII, which they do not change.
 */
const SHOWS_NOTHING = /[\s\u2800\p{Default_Ignorable_Code_Point}]/u;

/** Returns the text without blanks at its ends, in linear time. */
export function trimBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && showsNothing(text, start)) start += lengthAt(text, start);
  while (end > start && isBlank(text, end - 1)) end--;
  let last = end;
  while (last > start && showsNothing(text, beginOf(text, last))) last = beginOf(text, last);
  return text.slice(start, text.charCodeAt(last - 1) < 0x80 ? last : end);
}

/** Most texts begin and end with a letter or digit of ASCII. */
const isSeen = (code: number): boolean => code > 0x20 && code < 0x7f;

const isBlank = (text: string, at: number): boolean =>
  !isSeen(text.charCodeAt(at)) && BLANK.test(text.charAt(at));

const showsNothing = (text: string, at: number): boolean =>
  !isSeen(text.charCodeAt(at)) && SHOWS_NOTHING.test(text.slice(at, at + lengthAt(text, at)));

/** 2 for a surrogate pair. */
const lengthAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

/** Returns where the character begins that ends before `end`. */
const beginOf = (text: string, end: number): number => {
  const isPair = end > 1 && lengthAt(text, end - 2) === 2;
  return end - (isPair ? 2 : 1);
};
