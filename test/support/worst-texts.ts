/** Makes a text of `length` characters. */
type Letters = (length: number) => string;

const repeated =
  (piece: string): Letters =>
  (length) =>
    piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

/** Different letters from `first` on, in a circle of `count`. */
const different =
  (first: number, count: number): Letters =>
  (length) =>
    Array.from({ length }, (_, i) => String.fromCodePoint(first + (i % count))).join('');

/** Plain text, for the time that a length takes in any case. */
export const ASCII: Letters = repeated('a plain text of letters ');

/** Letters on which parsers, regular expressions, folding and normalisation have taken their time. */
export const WORST: Readonly<Record<string, Letters>> = {
  'different Han letters': different(0x4e00, 20_000),
  'different Hangul letters': different(0xac00, 11_000),
  'different letters beyond the first plane': (length) => different(0x20000, 40_000)(length / 2),
  'letters with long decompositions': repeated('\ufdfa'),
  'marks in the wrong order': repeated('a\u0301\u0323\u0327\u1dce'),
  'letters whose lower case is longer': repeated('\u0130\u1e9e'),
  'kelvin signs': repeated('\u212a'),
  'right-to-left letters': different(0x0621, 26),
  'emoji with joiners': repeated('\ud83d\udc69\u200d'),
  'lone surrogates': repeated('\ud800'),
  'control characters': repeated('\u0001\u009f'),
  blanks: repeated(' '),
  'blanks inside': (length) =>
    `a${' \u00a0\u200b'.repeat(Math.floor(length / 3))}`.padEnd(length, 'a').slice(0, length),
  'blanks of no width': repeated('\u200b'),
  dots: repeated('.'),
  'labels of one letter': repeated('a.'),
  'labels in punycode': repeated('xn--a.'),
  digits: repeated('1'),
  'digits with dots': repeated('1.'),
  slashes: repeated('/'),
  'steps up': repeated('/..'),
  'signs of percent': repeated('%25'),
  'signs of a user': repeated('a:b@'),
  brackets: repeated('[('),
  'escaped quotes': repeated('\\"'),
  quotes: repeated('"'),
  commas: repeated(',;'),
  'begins of tokens': repeated('eyJ-'),
  'begins of versions': repeated('opt/1'),
  'begins of devices': repeated('Android; '),
  'begins of sets': repeated('HbbTV/'),
  'begins of bots': repeated('MSIE ;Windows'),
  'language subtags': repeated('a-x-'),
  NULs: repeated('\0'),
};
