/** Whether a system call failed because the disk, or the user's share of it, is full. */
export const isNoRoom = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
