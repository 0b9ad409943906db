import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type LANGUAGES, ORIGIN } from '../../src/http/docs/reference/snippets.ts';
import { removeFolder } from '../../src/remove-folder.ts';

const run = promisify(execFile);

/** A call as it was typed. */
export interface Typed {
  readonly id: string;
  readonly text: string;
  /** The key in its environment. */
  readonly key: string;
}

/** The text of a command, with a service's address. `given`: what a reader enters, by the names of parameters. */
export function asTyped(
  { markup }: { readonly markup: string },
  url: string,
  given: Readonly<Record<string, string>> = {},
): string {
  const entered = markup.replace(
    /<span data-param="(\w+)" data-quote="\w+" data-before="([^"]*)" data-after="([^"]*)">([^<]*)<\/span>/g,
    (_, name: string, before: string, after: string, text: string) =>
      given[name] === undefined ? text : `${before}${given[name]}${after}`,
  );
  return entered
    .replace(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(ORIGIN, url);
}

const CLIENT = new URL('../../src/client/index.ts', import.meta.url).href;
const TSX = import.meta.resolve('tsx');
const PRINTED = /=== (\w+)\n([\s\S]*?)(?=\n?===|\s*$)/g;

export const hasPython = (): Promise<boolean> =>
  run('python3', ['--version']).then(
    () => true,
    () => false,
  );

interface Place {
  /** Where commands read their key. */
  readonly variable: string;
  /** Writes a file, and returns its path. */
  readonly write: (file: string, text: string) => string;
}

/** A script of a shell that runs all calls in turn. */
const SCRIPTS: Readonly<
  Record<(typeof LANGUAGES)[number], (calls: readonly Typed[], place: Place) => string>
> = {
  curl: (calls, { variable }) =>
    calls.map(({ id, text, key }) => `export ${variable}=${key}; echo '=== ${id}'\n${text}; echo`).join('\n'),
  TypeScript: (calls, { variable, write }) => {
    const lines = calls.flatMap(({ id, text, key }) => {
      write(`${id}.mts`, text.replace('session-analytics-client', CLIENT));
      return [
        `process.env.${variable} = '${key}'; console.log('=== ${id}');`,
        `await import('./${id}.mts');`,
      ];
    });
    return `node --import '${TSX}' ${write('all.mts', lines.join('\n'))}`;
  },
  Python: (calls, { variable, write }) => {
    const lines = calls.flatMap(({ id, text, key }) => {
      const file = write(`${id}.py`, text);
      return [`os.environ["${variable}"] = "${key}"; print("=== ${id}")`, `exec(open("${file}").read())`];
    });
    return `python3 ${write('all.py', ['import os', ...lines].join('\n'))}`;
  },
};

/** Runs commands in a folder of their own. */
export function snippetRunner(variable: string) {
  const folder = mkdtempSync(join(tmpdir(), 'docs-'));
  const write = (file: string, text: string): string => {
    const path = join(folder, file);
    writeFileSync(path, text);
    return path;
  };
  return {
    folder,
    /** Returns what each call printed, by its id. */
    printed: async (language: (typeof LANGUAGES)[number], calls: readonly Typed[]) => {
      const script = SCRIPTS[language](calls, { variable, write });
      const { stdout } = await run('bash', ['-c', script], { cwd: folder });
      return new Map([...stdout.matchAll(PRINTED)].map(([, id = '', text = '']) => [id, text]));
    },
    remove: () => removeFolder(folder),
  };
}
