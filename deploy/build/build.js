import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

// Plain JavaScript: `npm start` runs it, also where only the production packages are installed.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DIST = join(ROOT, 'dist');
/** Holds the hash of the sources that dist/ was built from. */
export const STAMP = 'sources.sha256';
/** Guides that the service serves at /docs. */
const GUIDES = ['examples', 'ingestion', 'polling', 'sdk', 'segments'].map((name) => `docs/${name}.md`);
const SOURCES = [
  'src',
  'bench',
  'test/support',
  'deploy/build',
  'tsconfig.json',
  'tsconfig.build.json',
  ...GUIDES,
];

/** Builds dist/, unless it was built from these sources. Then it takes some hundredths of a second. */
export async function buildIfNeeded() {
  if (isUpToDate()) return;
  process.stderr.write('Building dist/, because the sources changed.\n');
  await build({ declarations: false });
}

/** `declarations`: checks the types, and writes the declarations, which take most of the time. */
export async function build({ declarations = true } = {}) {
  const sources = hashOfSources();
  // Beside dist/, so that the paths in the source maps hold after the renaming.
  const made = mkdtempSync(join(ROOT, '.dist-'));
  try {
    compile(made, declarations);
    const pages = join(made, 'http/docs');
    cpSync(join(ROOT, 'src/http/docs/assets'), join(pages, 'assets'), {
      recursive: true,
      filter: (path) => !path.endsWith('tsconfig.json'),
    });
    for (const guide of GUIDES) cpSync(join(ROOT, guide), join(pages, 'guides', basename(guide)));
    await bundle(made);
    buildConsole(join(made, 'console'));
    writeFileSync(join(made, STAMP), `${sources}\n`);
    // Another process may have built the same meanwhile, and run it already.
    if (declarations || !isUpToDate()) putInPlace(made);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function isUpToDate() {
  const stamp = join(DIST, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8').trim() === hashOfSources();
}

/** The hash of what the packages without dependencies are built from. */
export const hashOfPackageSources = () => hashOfSources(['src', 'deploy/build', 'tsconfig.json']);

function hashOfSources(sources = SOURCES) {
  const hash = createHash('sha256');
  for (const file of sources.flatMap(filesIn)) {
    const content = readFileSync(file);
    hash.update(`${relative(ROOT, file)} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/** @param {string} name @returns {string[]} */
function filesIn(name) {
  const path = join(ROOT, name);
  if (name.includes('.')) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** @param {string} folder @param {boolean} declarations */
function compile(folder, declarations) {
  const tsc = developmentPackage('typescript/bin/tsc');
  const args = ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', folder];
  const quick = declarations ? [] : ['--noCheck', '--declaration', 'false'];
  const { status } = spawnSync(process.execPath, [tsc, ...args, ...quick], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('The sources do not compile.');
}

/** @param {string} name */
function developmentPackage(name) {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch (error) {
    throw new Error('dist/ has to be built, which needs the development packages: run npm ci.', {
      cause: error,
    });
  }
}

/**
 * Bundles the browser's script, and the benches with the files of test/ that they use. Packages that the service does not
 * need, such as the one that draws plots, are part of the bundle.
 * @param {string} folder
 */
async function bundle(folder) {
  const { build: run } = await import('esbuild');
  const { sdkScript } = await import('./sdk-script.js');
  mkdirSync(join(folder, 'sdk'));
  writeFileSync(join(folder, 'sdk/script.js'), await sdkScript());
  const { metafile } = await run({
    entryPoints: [
      ...['main', 'worker', 'http-load', 'http-bare'].map((name) => ({
        in: join(ROOT, `bench/${name}.ts`),
        out: name,
      })),
      { in: join(ROOT, 'test/support/bridge-main.ts'), out: 'bridge-main' },
    ],
    outdir: join(folder, 'bench'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: productionPackages(),
    metafile: true,
    logLevel: 'warning',
    plugins: [compiledService],
  });
  writeFileSync(join(folder, 'bench/LICENSES.txt'), licenses(Object.keys(metafile.inputs)));
}

/** Those that are installed with the service. */
function productionPackages() {
  const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
}

/** The licences of the packages among the bundled files. @param {string[]} files */
function licenses(files) {
  const names = files.map((file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(names)]
    .sort()
    .flatMap((name) => (name === undefined ? [] : [join(ROOT, name)]))
    .map((path) => {
      const texts = readdirSync(path).filter(
        (file) => /^(licen[sc]e|notice)/i.test(file) && !/\.(js|ts)$/.test(file),
      );
      const parts = texts.filter((file) => statSync(join(path, file)).isFile());
      if (parts.length === 0) parts.push('package.json');
      return [
        relative(join(ROOT, 'node_modules'), path),
        ...parts.map((file) => readFileSync(join(path, file), 'utf8')),
      ];
    })
    .map((parts) => `${parts.join('\n\n')}\n`)
    .join(`\n${'='.repeat(80)}\n\n`);
}

/** Builds the console's front end, in a process of its own: Vite follows NODE_ENV. @param {string} folder */
function buildConsole(folder) {
  const vite = join(dirname(developmentPackage('vite/package.json')), 'bin/vite.js');
  const config = join(ROOT, 'deploy/build/console.config.js');
  const { status } = spawnSync(
    process.execPath,
    [vite, 'build', '--config', config, '--outDir', folder, '--logLevel', 'warn'],
    { stdio: ['ignore', 2, 2], env: { ...process.env, NODE_ENV: 'production' } },
  );
  if (status !== 0) throw new Error('The console does not build.');
}

/**
 * Leaves the imports of src/ to the compiled files beside the bundle.
 * @type {import('esbuild').Plugin}
 */
const compiledService = {
  name: 'compiled-service',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const file = relative(join(ROOT, 'src'), join(resolveDir, path));
      return file.startsWith('..') ? null : { path: `../${file.replace(/\.ts$/, '.js')}`, external: true };
    });
  },
};

/**
 * Puts the built folder in the place of dist/. Another process may build the same files at this moment.
 * @param {string} made
 */
function putInPlace(made) {
  const old = `${made}-old`;
  for (let attempt = 0; ; attempt++) {
    try {
      if (existsSync(DIST)) renameSync(DIST, old);
      renameSync(made, DIST);
      return;
    } catch (error) {
      if (attempt === 9) throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
}
