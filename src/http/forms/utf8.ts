/** The most that UTF-8 takes for a UTF-16 unit. */
const BYTES_PER_CHARACTER = 3;

/** Returns a function that returns memory of a size or more: the same each time, unless it is too small. */
function sameMemory(): (size: number) => Buffer {
  let memory: Buffer = Buffer.alloc(0);
  return (size) => {
    if (memory.length < size) memory = Buffer.allocUnsafeSlow(2 * size);
    return memory;
  };
}

/** Returns a function that writes a text as UTF-8, each over the text before. */
export function textInSameMemory(): (text: string) => Buffer {
  const memory = sameMemory();
  return (text) => {
    const bytes = memory(BYTES_PER_CHARACTER * text.length);
    return bytes.subarray(0, bytes.write(text));
  };
}

/** The UTF-8 of a column's texts, one after the other. Text i is between offsets i and i + 1; null takes nothing. */
export interface Utf8Texts {
  readonly bytes: Buffer;
  readonly offsets: Int32Array;
}

/**
 * Returns a function that writes a column's texts over those before. The libraries of Arrow and Parquet would make an
 * array of bytes for each text: small pieces of memory, which the process does not give back.
 */
export function textsInSameMemory(): (texts: readonly (string | null)[]) => Utf8Texts {
  const memory = sameMemory();
  return (texts) => {
    const bytes = memory(texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0));
    const offsets = new Int32Array(texts.length + 1);
    let at = 0;
    for (const [i, text] of texts.entries()) {
      at += bytes.write(text ?? '', at);
      offsets[i + 1] = at;
    }
    return { bytes: bytes.subarray(0, at), offsets };
  };
}
