import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** What decides how data becomes an answer. */
const FOLDERS = ['../analytics', '../clickhouse', '../endpoints', '../domain', '../http'];

/**
 * The version of the code that answers: the same in every process that runs the same files. It is part of every tag, since
 * another version may answer otherwise from the same data.
 */
export function codeVersion(): string {
  const hash = createHash('sha256');
  for (const folder of FOLDERS) {
    const root = new URL(`${folder}/`, import.meta.url);
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .sort();
    for (const file of files) hash.update(file).update(readFileSync(new URL(file, root)));
  }
  return hash.digest('base64url').slice(0, 16);
}
