const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Tells whether arrays and objects of a JSON text in UTF-8 are nested in more than `levels` levels. The text need not be
 * valid JSON.
 */
export function isNestedDeeper(json: Uint8Array, levels: number): boolean {
  let level = 0;
  let isInString = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (isInString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) {
      isInString = true;
    } else if (byte === ARRAY || byte === OBJECT) {
      level++;
      if (level > levels) return true;
    } else if (byte === ARRAY_END || byte === OBJECT_END) {
      level--;
    }
  }
  return false;
}
