import { hash } from 'node:crypto';

/** The prefixes of all keys; redis/KEYS.md lists them. */
export const RATE_PREFIX = 'analytics:rate:';
export const LOCK_PREFIX = 'analytics:lock:';
export const PROBE_KEY = 'analytics:probe';

/** Hashes an id for use in a key's name, because Redis's logs and tools show names. */
export const hashed = (id: string): string => hash('sha256', id, 'hex').slice(0, 32);
