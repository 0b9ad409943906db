/** The UTF-8 of a column's texts, one after the other. Text i is between offsets i and i + 1; null takes nothing. */
export interface Utf8Texts {
  readonly bytes: Buffer;
  readonly offsets: Int32Array;
}

/**
 * Returns a function that writes a column's texts over those before. The libraries of Arrow and Parquet would make an
 * array of bytes for each text: small pieces of memory, which the process does not give back.
 */
export function utf8InSameMemory(): (texts: readonly (string | null)[]) => Utf8Texts {
  let memory: Buffer = Buffer.alloc(0);
  return (texts) => {
    const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);
    if (memory.length < size) memory = Buffer.allocUnsafeSlow(2 * size);
    const offsets = new Int32Array(texts.length + 1);
    let at = 0;
    for (const [i, text] of texts.entries()) {
      at += memory.write(text ?? '', at);
      offsets[i + 1] = at;
    }
    return { bytes: memory.subarray(0, size), offsets };
  };
}
