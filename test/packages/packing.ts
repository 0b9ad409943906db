import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { expectDone } from './commands.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The tarball of each package, by its name. */
    readonly tarballs: Readonly<Record<PackageName, string>>;
  }
}

export type PackageName = 'session-analytics' | 'session-analytics-client' | 'session-analytics-sdk';

/** Builds and packs the three packages once, as a release does. The first command builds them all. */
export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'analytics-tarballs-'));
  const pack = (path: string): string => {
    const packed = expectDone('npm', ['pack', '--json', '--pack-destination', folder], { cwd: path });
    // The output of the build, which npm runs first, comes before the document.
    const [{ filename }] = JSON.parse(packed.slice(packed.search(/^\[/m)));
    return join(folder, filename);
  };
  project.provide('tarballs', {
    'session-analytics': pack('.'),
    'session-analytics-client': pack('deploy/packages/client'),
    'session-analytics-sdk': pack('deploy/packages/sdk'),
  });
  return () => rmSync(folder, { recursive: true, force: true });
}
