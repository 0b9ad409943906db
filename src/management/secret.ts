import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { makeFolder } from '../make-folder.ts';
import { readOwnFile, writeOwnFile } from '../own-file.ts';

const FILE = 'management.jwt';
/** HS256 wants a key at least as long as its hash (RFC 7518, section 3.2). */
const SECRET_BYTES = 32;
const LEAST_CHARACTERS = 32;

/** The file with the embedded store's management secret. */
export const managementSecretFile = (dataDir: string): string => join(dataDir, FILE);

/** Reads the secret in the data folder; null if no service has been started there yet. Throws UnusableFile. */
export const readManagementSecret = (dataDir: string): string | null =>
  readOwnFile(managementSecretFile(dataDir), secretIn, 'remove it and start the service again.');

function secretIn(text: string): string {
  const secret = text.trim();
  // After a power cut, a file may have its length and no content.
  if (!/^[\x21-\x7e]+$/.test(secret) || secret.length < LEAST_CHARACTERS)
    throw new Error('it holds no secret');
  return secret;
}

/** Returns the secret in the data folder. The service's first start creates it (mode 0600). */
export function ensureManagementSecret(dataDir: string): string {
  const known = readManagementSecret(dataDir);
  if (known !== null) return known;
  makeFolder(dataDir);
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  // Never replaces another process's secret.
  const isOurs = writeOwnFile(managementSecretFile(dataDir), `${secret}\n`, { isNew: true });
  return isOurs ? secret : (readManagementSecret(dataDir) ?? secret);
}
