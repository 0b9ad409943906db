import { type Clock, epochMs } from '../domain/time.ts';

/** The machine's clock. Commands pass it on; nothing else reads it. */
export const wallClock: Clock = () => epochMs(Date.now());
