import { build, decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js';

/** 1 µs to an hour, with three significant digits. */
export const newHistogram = (): Histogram =>
  build({ bitBucketSize: 32, autoResize: true, numberOfSignificantValueDigits: 3 });

export const histogramOf = (encoded: string): Histogram => decodeFromCompressedBase64(encoded, 32, false);
