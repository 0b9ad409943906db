import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { CLIENT_NODES, envOf, expectDone, run } from './commands.ts';
import { emptyFolder, install, linkFolder } from './install.ts';

const tarballs = inject('tarballs');
const NAMES = ['session-analytics-client', 'session-analytics-sdk'] as const;
const EXPORTS = {
  'session-analytics-client': [
    'AbortError',
    'AnswerError',
    'ApiError',
    'ClientError',
    'ConnectionError',
    'InputError',
    'TimeoutError',
    'UnclearCreationError',
    'createClient',
  ],
  'session-analytics-sdk': ['init', 'optOut', 'pageview', 'track'],
};

const folder = emptyFolder();
beforeAll(() => install(folder, Object.values(NAMES.map((name) => tarballs[name]))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const bin = (name: string): string => resolve('node_modules/.bin', name);

/** A checkout with the files of the package, before a build. */
function unbuiltCopy(name: string) {
  const unbuilt = emptyFolder();
  const source = join('deploy/packages', name.replace('session-analytics-', ''));
  const place = join(unbuilt, source);
  mkdirSync(place, { recursive: true });
  cpSync('deploy/build', join(unbuilt, 'deploy/build'), { recursive: true });
  copyFileSync('package.json', join(unbuilt, 'package.json'));
  copyFileSync(join(source, 'package.json'), join(place, 'package.json'));
  return { unbuilt, place, source };
}

describe.each(NAMES)('%s', (name) => {
  const read = (file: string): string => readFileSync(join(folder, 'node_modules', name, file), 'utf8');

  test('holds its code, its declarations and its papers, and nothing else', () => {
    const files = readdirSync(join(folder, 'node_modules', name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name);
    expect(files.sort()).toEqual(
      ['LICENSE', 'README.md', 'index.cjs', 'index.d.cts', 'index.d.mts', 'index.mjs', 'package.json'].sort(),
    );
    expect(readdirSync(join(folder, 'node_modules')).filter((file) => !file.startsWith('.'))).toEqual(NAMES);
    for (const file of ['dist/index.mjs', 'dist/index.cjs', 'dist/index.d.mts', 'dist/index.d.cts']) {
      expect(read(file)).not.toMatch(/\bimport\b.*\bfrom\b|\brequire\(|\bzod\b|import\(/);
    }
  });

  test('has the version of the service', () => {
    const { version, dependencies } = JSON.parse(read('package.json'));
    expect(version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
    expect(dependencies).toBeUndefined();
  });

  test('is not packed before it is built, and says so', () => {
    const { unbuilt, place } = unbuiltCopy(name);
    const { status, stderr } = run('npm', ['pack'], { cwd: place });
    expect(status).not.toBe(0);
    expect(stderr).toContain('This package is not built. Run npm run build in the root of the checkout');
    expect(readdirSync(place)).toEqual(['package.json']);
    rmSync(unbuilt, { recursive: true });
  });

  test('is not packed after a change of its sources, and says so', () => {
    const { unbuilt, place, source } = unbuiltCopy(name);
    for (const path of ['src', 'tsconfig.json']) cpSync(path, join(unbuilt, path), { recursive: true });
    cpSync(join(source, 'dist'), join(place, 'dist'), { recursive: true });
    expectDone('npm', ['pack', '--dry-run'], { cwd: place });
    appendFileSync(join(unbuilt, 'src', basename(source), 'index.ts'), '\n// Changed.\n');
    const { status, stderr } = run('npm', ['pack'], { cwd: place });
    expect(status).not.toBe(0);
    expect(stderr).toContain('This package was built from other sources than those of the checkout.');
    expect(readdirSync(place).sort()).toEqual(['dist', 'package.json']);
    rmSync(unbuilt, { recursive: true });
  });

  test('is clean for publint and for arethetypeswrong', () => {
    expectDone(bin('publint'), ['run', tarballs[name], '--strict'], { cwd: folder });
    expectDone(bin('attw'), ['--no-definitely-typed', tarballs[name]], { cwd: folder });
  });

  test.each(Object.keys(CLIENT_NODES))('is imported and required by plain Node %s', (version) => {
    const node = join(CLIENT_NODES[version] ?? '', 'node');
    const print = 'process.stdout.write(JSON.stringify([process.versions.node, Object.keys(all).sort()]))';
    const scripts = {
      'import.mjs': `import * as all from '${name}'; ${print}`,
      'require.cjs': `const all = require('${name}'); ${print}`,
    };
    for (const [file, text] of Object.entries(scripts)) {
      writeFileSync(join(folder, file), text);
      const printed = expectDone(node, [file], { cwd: folder, env: envOf(version) });
      expect(JSON.parse(printed)).toEqual([
        expect.stringMatching(new RegExp(`^${version}\\.`)),
        EXPORTS[name],
      ]);
    }
  });
});

describe('strict TypeScript', () => {
  const STRICT = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    target: 'es2022',
  };
  const CONSUMER = `
    import { ApiError, createClient, type Client, type PageView, type Result } from 'session-analytics-client';
    import { init, track, type Settings } from 'session-analytics-sdk';
    const client: Client = createClient({ baseUrl: 'http://localhost', apiKey: 'k', maxRetries: undefined });
    export async function pages(appId: string, signal?: AbortSignal): Promise<readonly PageView[]> {
      const { data, ageSeconds }: Result<readonly PageView[]> = await client.listPageviews(
        { appId, from: new Date(), limit: 3 }, { signal, maxStaleSeconds: 10 });
      const share: number | undefined = (await client.getExtendedOverview({ appId })).data.technology.browsers[0]?.share;
      const bytes: Uint8Array = (await client.download('listUtmCampaigns', { appId }, { format: 'parquet' })).data;
      for await (const { data: kpis } of client.poll('getOverviewKpis', { appId })) kpis.changePercent.visitors?.toFixed();
      // @ts-expect-error: the window of the heatmap is fixed.
      await client.getTrafficHeatmap({ appId, from: '2026-01-01T00:00:00Z' });
      // @ts-expect-error: an overview is no list.
      await client.download('getOverviewKpis', { appId }, { format: 'csv' });
      return ageSeconds === null ? data : data.slice(0, share ?? bytes.length);
    }
    export const codeOf = (error: unknown) => (error instanceof ApiError && error.code === 'rate_limited' ? error.status : 0);
    const settings: Settings = { appId: 'a', secretKey: 's' };
    init(settings);
    track('signup');
    // @ts-expect-error: the secret is missing.
    init({ appId: 'a' });
  `;

  const check = (options: object, ...files: string[]): void => {
    for (const file of files) writeFileSync(join(folder, file), CONSUMER);
    const config = { compilerOptions: { ...STRICT, ...options }, files };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const { stdout, status } = run(bin('tsc'), ['-p', '.'], { cwd: folder });
    expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
  };

  test('accepts the declarations in ES modules and in CommonJS', () => {
    check({ module: 'nodenext', lib: ['es2022', 'dom'], types: [] }, 'esm.mts', 'common.cts');
  });

  test("accepts them with a bundler, and with Node's types instead of the browser's", () => {
    const lent = ['@types/node', 'undici-types'];
    for (const name of lent) linkFolder(resolve('node_modules', name), join(folder, 'node_modules', name));
    check({ module: 'esnext', moduleResolution: 'bundler', lib: ['es2022'], types: ['node'] }, 'bundled.ts');
    for (const name of lent) rmSync(join(folder, 'node_modules', name), { recursive: true });
  });
});

describe('the SDK in a bundle', () => {
  const ENTRY =
    "import { init, track } from 'session-analytics-sdk'; track('early'); globalThis.started = typeof init;";
  const entry = join(folder, 'page.js');
  beforeAll(() => writeFileSync(entry, ENTRY));

  /** Before `init` the SDK touches nothing of the browser, so it also runs where pages are rendered on a server. */
  const expectRuns = (code: string): void => {
    const globals: { started?: string } = {};
    runInNewContext(code, globals);
    expect(globals.started).toBe('function');
    expect(code).toContain('/sdk/v1/events');
  };

  test('of esbuild', async () => {
    const { outputFiles, metafile } = await esbuild({
      entryPoints: [entry],
      bundle: true,
      format: 'iife',
      write: false,
      metafile: true,
    });
    expect(Object.keys(metafile.inputs)).toHaveLength(2);
    expectRuns(outputFiles.map(({ text }) => text).join(''));
  });

  test('of Vite', async () => {
    const built = await vite({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      build: { write: false, rollupOptions: { input: entry, output: { format: 'iife' } } },
    });
    const [output] = Array.isArray(built) ? built : [built];
    if (output === undefined || !('output' in output)) throw new Error('Vite built nothing');
    expectRuns(output.output[0].code);
  });
});
