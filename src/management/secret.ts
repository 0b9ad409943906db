import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../domain/thrown.ts';
import { makeFolder } from '../make-folder.ts';

const FILE = 'management.jwt';
/** HS256 wants a key at least as long as its hash (RFC 7518, section 3.2). */
const SECRET_BYTES = 32;
const LEAST_CHARACTERS = 32;

/** The file with the embedded store's management secret. */
export const managementSecretFile = (dataDir: string): string => join(dataDir, FILE);

/** Reads the secret in the data folder; null if no service has been started there yet. Throws read errors. */
export function readManagementSecret(dataDir: string): string | null {
  const path = managementSecretFile(dataDir);
  const text = readIfThere(path)?.trim() ?? null;
  if (text !== null && text.length < LEAST_CHARACTERS) {
    throw new Error(`${path} holds no secret: remove it and start the service again.`);
  }
  return text;
}

/** Returns the secret in the data folder. The service's first start creates it (mode 0600). */
export function ensureManagementSecret(dataDir: string): string {
  const known = readManagementSecret(dataDir);
  if (known !== null) return known;
  makeFolder(dataDir);
  const path = managementSecretFile(dataDir);
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  writeFileSync(draft, `${secret}\n`, { mode: 0o600, flag: 'wx' });
  try {
    // Atomic, and never replaces another process's secret: a link fails if the file exists.
    linkSync(draft, path);
    return secret;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return readManagementSecret(dataDir) ?? secret;
  } finally {
    rmSync(draft, { force: true });
  }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
