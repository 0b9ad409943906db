/**
 * Lower-cases A to Z, and no other letter: `toLowerCase` turns U+212A (the kelvin sign) into a `k`, so that two different
 * names would be one.
 */
export const lowerAscii = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
