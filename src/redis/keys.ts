import { hash } from 'node:crypto';

/** Every key begins so; redis/KEYS.md lists them. */
export const RATE_PREFIX = 'analytics:rate:';
export const LOCK_PREFIX = 'analytics:lock:';
export const PROBE_KEY = 'analytics:probe';

/** What stands in a key's name instead of an id: Redis's logs and tools show names. */
export const hashed = (id: string): string => hash('sha256', id, 'hex').slice(0, 32);
