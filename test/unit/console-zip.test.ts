import { crc32, inflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { zipOf } from '../../src/console/analytics/export/zip.ts';
import { unzipped } from '../browser/unzip.ts';

const FILES = [
  { name: 'pages.csv', text: `"path","views"\r\n${'"/a",1\r\n'.repeat(5_000)}` },
  { name: 'کشورها.csv', text: '\uFEFF"name"\r\n"ایران"\r\n' },
  { name: 'empty.csv', text: '' },
];

test('a zip has every file, by its directory and by the headers of the files', async () => {
  const zip = Buffer.from(await (await zipOf(FILES, new Date(2026, 10, 20, 10, 46, 30))).arrayBuffer());
  expect([...unzipped(zip)]).toEqual(FILES.map(({ name, text }) => [name, text]));
  expect(zip.length).toBeLessThan(2_000);
  let at = 0;
  for (const { name, text } of FILES) {
    expect(zip.readUInt32LE(at)).toBe(0x04034b50);
    const [packed, size, letters] = [
      zip.readUInt32LE(at + 18),
      zip.readUInt32LE(at + 22),
      zip.readUInt16LE(at + 26),
    ];
    expect(zip.readUInt32LE(at + 14)).toBe(crc32(text));
    expect(size).toBe(Buffer.byteLength(text));
    expect(zip.toString('utf8', at + 30, at + 30 + letters)).toBe(name);
    // 20 November 2026, 10:46:30.
    expect([zip.readUInt16LE(at + 12), zip.readUInt16LE(at + 10)]).toEqual([
      (46 << 9) | (11 << 5) | 20,
      (10 << 11) | (46 << 5) | 15,
    ]);
    const start = at + 30 + letters;
    expect(inflateRawSync(zip.subarray(start, start + packed)).toString()).toBe(text);
    at = start + packed;
  }
});
