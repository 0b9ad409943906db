import { crc32, inflateRawSync } from 'node:zlib';

/** The texts of a zip by their names, as its directory lists them. Throws for a content that is not as it says. */
export function unzipped(zip: Buffer): Map<string, string> {
  const end = zip.length - 22;
  if (zip.readUInt32LE(end) !== 0x06054b50) throw new Error('There is no end of the directory.');
  const files = new Map<string, string>();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw new Error('There is no entry of the directory.');
    const [packed, letters, header] = [
      zip.readUInt32LE(at + 20),
      zip.readUInt16LE(at + 28),
      zip.readUInt32LE(at + 42),
    ];
    const name = zip.toString('utf8', at + 46, at + 46 + letters);
    const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
    const content = inflateRawSync(zip.subarray(start, start + packed));
    if (crc32(content) !== zip.readUInt32LE(at + 16)) throw new Error(`${name} is damaged.`);
    files.set(name, content.toString());
    at += 46 + letters + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  if (at !== end) throw new Error('The directory ends elsewhere.');
  return files;
}
