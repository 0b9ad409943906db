export interface Line {
  /** Without its end. */
  readonly text: string;
  /** In its file, from 1. */
  readonly number: number;
}

/** A longer line is cut here. No format has such lines. */
const LONGEST_LINE = 8 * 1024 ** 2;
const LINE_FEED = 10;
const BYTE_ORDER_MARK = '\ufeff';

/** Splits UTF-8 text into lines. Yields the lines of each chunk together. */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  longest = LONGEST_LINE,
): AsyncGenerator<Line[]> {
  let number = 0;
  let rest: Buffer[] = [];
  let restBytes = 0;
  const line = (text: string): Line => {
    number++;
    const from = number === 1 && text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
    return { text: text.slice(from, text.endsWith('\r') ? -1 : undefined), number };
  };
  const keep = (part: Buffer): void => {
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
  if (restBytes > 0) yield [line(Buffer.concat(rest).toString('utf8'))];
}
