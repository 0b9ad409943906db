import { codeOf } from './thrown.ts';

/** Whether a system call failed because the disk, or the user's share of it, is full. */
export const isNoRoom = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');
