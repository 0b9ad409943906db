import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// `npm run release -- VERSION`. Leaves the files of the release in release/VERSION and the new version in the package
// files. It publishes nothing. Its last lines say how a person does that.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['.', 'deploy/packages/client', 'deploy/packages/sdk'];
/** The client names its version to the service. */
const CLIENT_VERSION = 'src/client/version.ts';
const CHANGED = [
  'package-lock.json',
  CLIENT_VERSION,
  ...FOLDERS.map((folder) => join(folder, 'package.json')),
];
/** Stands in `repository` and `homepage` until the project has an address. */
const PLACEHOLDER = 'repository.invalid';

/** @param {string} message @returns {never} */
function refuse(message) {
  throw new Error(message);
}

/** @param {string} command @param {string[]} args @returns {string} */
function output(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 ** 2,
  });
  return status === 0 ? stdout : refuse(`${command} ${args.join(' ')} failed: ${stderr.trim()}`);
}

/** Shows what the command prints. @param {string} command @param {string[]} args */
function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) refuse(`${command} ${args.join(' ')} failed.`);
}

/** Refuses an older version, a version with a tag or without a section in the changelog, and uncommitted changes. @param {string | undefined} version */
function checked(version = '') {
  const numbers = /^(\d+)\.(\d+)\.(\d+)$/.exec(version)?.slice(1).map(Number);
  if (numbers === undefined) return refuse('Usage: npm run release -- VERSION, such as 1.2.0.');
  const { version: current } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  if (compare(numbers, current.split('.').map(Number)) < 0) refuse(`${version} is before ${current}.`);
  if (!readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').includes(`\n## ${version}\n`)) {
    refuse(`CHANGELOG.md has no section "## ${version}".`);
  }
  for (const folder of FOLDERS) {
    const file = join(folder, 'package.json');
    if (readFileSync(join(ROOT, file), 'utf8').includes(PLACEHOLDER)) {
      refuse(`${file} names the placeholder ${PLACEHOLDER}: set repository and homepage.`);
    }
  }
  if (output('git', ['tag', '--list', `v${version}`]).trim() !== '') refuse(`There is a tag v${version}.`);
  if (output('git', ['status', '--porcelain']).trim() !== '') refuse('Commit or remove the changes first.');
  return version;
}

/** @param {readonly number[]} a @param {readonly number[]} b */
function compare(a, b) {
  const index = a.findIndex((number, i) => number !== b[i]);
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

/** @param {string} version @param {string} folder */
function pack(version, folder) {
  for (const path of FOLDERS) {
    const setVersion = ['version', version, '--no-git-tag-version', '--allow-same-version', '--prefix', path];
    output('npm', setVersion);
  }
  const file = join(ROOT, CLIENT_VERSION);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/'.*'/, `'${version}'`));
  for (const path of FOLDERS) output('npm', ['pack', `./${path}`, '--pack-destination', folder]);
  const bill = JSON.parse(output('npm', ['sbom', '--omit=dev', '--sbom-format=cyclonedx']));
  // npm takes the name of the folder.
  bill.metadata.component.name = 'session-analytics';
  writeFileSync(join(folder, `session-analytics-${version}.cdx.json`), `${JSON.stringify(bill, null, 2)}\n`);
  const sums = readdirSync(folder).map((name) => {
    const hash = createHash('sha256').update(readFileSync(join(folder, name)));
    return `${hash.digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
}

function release() {
  const version = checked(process.argv[2]);
  for (const script of ['check', 'test', 'test:long', 'test:packages']) run('npm', ['run', script]);
  const before = CHANGED.map(
    (file) => /** @type {const} */ ([join(ROOT, file), readFileSync(join(ROOT, file))]),
  );
  const folder = join(ROOT, 'release', version);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    pack(version, folder);
  } catch (error) {
    for (const [file, content] of before) writeFileSync(file, content);
    throw error;
  }
  process.stdout.write(`
release/${version} holds the three packages, the bill of materials (CycloneDX) and their checksums. To publish:

git commit -am 'release: ${version}' && git tag -a v${version} -m v${version} && git push --follow-tags
for file in ./release/${version}/*.tgz; do npm publish "$file"; done
`);
}

try {
  release();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
