export interface Line {
  /** Without its end. */
  readonly text: string;
  /** In its file, from 1. */
  readonly number: number;
  /** True for a last line without an end: the file may be growing. */
  readonly isCut?: true;
}

/** A longer line is cut here. No format has such lines. */
const LONGEST_LINE = 8 * 1024 ** 2;
const LINE_FEED = 10;
/** Byte order marks, also of files that were joined, and NULs. */
const BEFORE = /^[\0\ufeff]+/;

/**
 * Splits UTF-8 text into lines. Yields the lines of each chunk together. NULs before a line are dropped: a log that is
 * truncated while a server writes it begins with as many as it had bytes.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  longest = LONGEST_LINE,
): AsyncGenerator<Line[]> {
  let number = 0;
  let rest: Buffer[] = [];
  let restBytes = 0;
  const line = (text: string): Line => {
    number++;
    const whole = text.endsWith('\r') ? text.slice(0, -1) : text;
    return { text: isBefore(whole.charCodeAt(0)) ? whole.replace(BEFORE, '') : whole, number };
  };
  const keep = (bytes: Buffer): void => {
    const part = restBytes === 0 ? withoutNuls(bytes) : bytes;
    const fitting = part.subarray(0, Math.max(0, longest - restBytes));
    if (fitting.length > 0) rest.push(fitting);
    restBytes += fitting.length;
  };
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LINE_FEED);
    if (end < 0) {
      keep(chunk);
      continue;
    }
    const first = chunk.indexOf(LINE_FEED);
    keep(chunk.subarray(0, first));
    const lines = [line(Buffer.concat(rest).toString('utf8'))];
    // A line feed byte is never a part of another character, so the chunk can be decoded as a whole.
    if (end > first) {
      for (const text of chunk.toString('utf8', first + 1, end).split('\n')) lines.push(line(text));
    }
    rest = [];
    restBytes = 0;
    keep(chunk.subarray(end + 1));
    yield lines;
  }
  if (restBytes > 0) yield [{ ...line(Buffer.concat(rest).toString('utf8')), isCut: true }];
}

const isBefore = (code: number): boolean => code === 0 || code === 0xfeff;

function withoutNuls(bytes: Buffer): Buffer {
  if (bytes[0] !== 0) return bytes;
  const from = bytes.findIndex((byte) => byte !== 0);
  return from < 0 ? bytes.subarray(bytes.length) : bytes.subarray(from);
}
