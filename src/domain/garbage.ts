/**
 * Frees buffers that were used for a short time. V8 looks at the size of its own objects, and would keep up to 64 MiB
 * of buffers. Does nothing unless Node was started with `--expose-gc`, as the command does.
 */
export const collectYoungGarbage = (): void => globalThis.gc?.({ type: 'minor' });
