/*
 * Texts of the web as people write them: paths are percent-encoded, and hosts are in punycode (RFC 3492).
 */

/** Decodes what a person can read. What would mean something else, or be unseen, stays encoded. */
export const readablePath = (path: string): string =>
  path.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return Array.from(decodeURIComponent(run), (character) =>
        /[%/?#\\]|[\p{C}\p{Z}]/u.test(character) && !/[ \u200c\u200d]/.test(character)
          ? encodeURIComponent(character)
          : character,
      ).join('');
    } catch {
      return run;
    }
  });

/** Decodes the host of an origin, or a host alone. A label that is no punycode stays. */
export const readableHost = (host: string): string =>
  host.replace(/xn--([a-z0-9-]+)/gi, (label, code: string) => {
    const decoded = punycodeDecoded(code.toLowerCase());
    return decoded !== null && /^(?:[\p{L}\p{M}\p{N}-]|\u200c|\u200d)+$/u.test(decoded) ? decoded : label;
  });

/** The parameters of RFC 3492, section 5. */
const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const FIRST_BIAS = 72;
const FIRST_POINT = 128;

/** RFC 3492, section 6.2. Null for a text that is not of this form. */
function punycodeDecoded(code: string): string | null {
  const end = code.lastIndexOf('-');
  const points = Array.from(code.slice(0, Math.max(0, end)), (character) => character.charCodeAt(0));
  const digits = Array.from(code.slice(end + 1), digitOf);
  let [point, i, bias, at] = [FIRST_POINT, 0, FIRST_BIAS, 0];
  while (at < digits.length) {
    const before = i;
    for (let [weight, k] = [1, BASE]; ; k += BASE) {
      const digit = digits[at++];
      if (digit === undefined || digit < 0) return null;
      i += digit * weight;
      const threshold = Math.min(T_MAX, Math.max(T_MIN, k - bias));
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const length = points.length + 1;
    bias = adapted(i - before, length, before === 0);
    point += Math.floor(i / length);
    i %= length;
    if (point > 0x10_ff_ff) return null;
    points.splice(i++, 0, point);
  }
  return String.fromCodePoint(...points);
}

function digitOf(character: string): number {
  return '0123456789'.includes(character)
    ? Number(character) + 26
    : 'abcdefghijklmnopqrstuvwxyz'.indexOf(character);
}

/** RFC 3492, section 6.1. */
function adapted(delta: number, length: number, isFirst: boolean): number {
  let left = Math.floor(delta / (isFirst ? DAMP : 2));
  left += Math.floor(left / length);
  let k = 0;
  for (; left > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) left = Math.floor(left / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * left) / (left + SKEW));
}

const FOLDS: readonly (readonly [RegExp, string])[] = [
  // Marks, the kashida, and the joiners that keyboards leave out.
  [/[\p{Mn}\u0640\u200c\u200d]/gu, ''],
  [/[\u064a\u0649\u0626]/g, 'ی'],
  [/\u0643/g, 'ک'],
  [/[\u0623\u0625\u0622\u0671]/g, 'ا'],
  [/\u0624/g, 'و'],
  [/[\u0629\u06c0]/g, 'ه'],
];
const ZEROS = [0x06f0, 0x0660];

/** Makes one text of those that people take for the same: Arabic and Persian letters and digits, upper and lower case. */
export function folded(text: string): string {
  const letters = FOLDS.reduce(
    (all, [from, to]) => all.replace(from, to),
    text.normalize('NFKC').toLowerCase(),
  );
  return letters.replace(/[\u06f0-\u06f9\u0660-\u0669]/g, (digit) => {
    const code = digit.charCodeAt(0);
    return String(code - (ZEROS.find((zero) => code >= zero && code <= zero + 9) ?? code));
  });
}
