import { rmSync } from 'node:fs';

/**
 * Removes a folder with all that it holds; none is fine. The engine may still write into it for a moment after it was
 * closed, so this is tried for some seconds.
 */
export const removeFolder = (path: string): void =>
  rmSync(path, { recursive: true, force: true, maxRetries: 12, retryDelay: 50 });
