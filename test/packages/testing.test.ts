import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { envOf, expectDone, NODES, oldNode, plainEnv, run } from './commands.ts';
import { bringProductionPackages, emptyFolder, install } from './install.ts';

const tarballs = inject('tarballs');
const EXAMPLE = 'docs/testing-example';
const bin = (name: string): string => resolve('node_modules/.bin', name);
/** The folders of services that were not removed. */
const leftIn = (place: string): string[] =>
  readdirSync(place).filter((name) => name.startsWith('session-analytics-test-'));

/* `session-analytics/testing`, as an integrator has it. */

const folder = emptyFolder();
beforeAll(() => {
  bringProductionPackages(folder, { optional: true });
  install(folder, [tarballs['session-analytics'], tarballs['session-analytics-client']]);
  mkdirSync(join(folder, 'example'));
  for (const file of readdirSync(EXAMPLE)) copyFileSync(join(EXAMPLE, file), join(folder, 'example', file));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(Object.keys(NODES))('the tests of the example project pass on Node %s', (version) => {
  const printed = expectDone('npm', ['test'], { cwd: join(folder, 'example'), env: envOf(version) });
  expect(printed).toMatch(/^[#ℹ] pass 5$/m);
  expect(printed).toMatch(/^[#ℹ] fail 0$/m);
});

test('on an old Node one line says which one it needs', () => {
  writeFileSync(
    join(folder, 'old.mjs'),
    `import { startTestService } from 'session-analytics/testing';
     await startTestService();`,
  );
  const { status, stdout, stderr } = run('node', ['old.mjs'], {
    cwd: folder,
    env: plainEnv(`${oldNode()}:${process.env['PATH']}`),
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(
    /^session-analytics needs Node 20\.19 or later\. This is Node 18\.20\.8 \(.*\)\.\n$/,
  );
});

describe('under Jest', () => {
  const JEST = resolve('test/packages/jest/node_modules/jest/bin/jest.js');
  const PROGRAMS = 'test/packages/programs/jest';
  const options = { transform: {}, testMatch: ['**/jest/*.test.mjs'], testTimeout: 60_000 };
  const temporary = join(folder, 'jest-tmp');
  beforeAll(() => {
    for (const each of ['jest', 'jest-tmp']) mkdirSync(join(folder, each));
    for (const file of readdirSync(PROGRAMS)) copyFileSync(join(PROGRAMS, file), join(folder, 'jest', file));
    writeFileSync(
      join(folder, 'jest.json'),
      JSON.stringify({ ...options, moduleFileExtensions: ['mjs', 'js', 'json'], cacheDirectory: temporary }),
    );
  });

  test.each(
    Object.keys(NODES).flatMap((version) => [
      ['a test file passes, errors of Node and of the service included', version, 'errors', []] as const,
      ['a service that is left open ends with the process', version, 'left-open', ['--forceExit']] as const,
    ]),
  )('%s, and leaves nothing, on Node %s', (_, version, name, more) => {
    const args = ['--experimental-vm-modules', JEST, '-i', '--config', 'jest.json', ...more, name];
    const env = { ...envOf(version), TMPDIR: temporary };
    expectDone('node', args, { cwd: folder, env });
    expect(leftIn(temporary)).toEqual([]);
  });
});

/** Statements run while a service closes. */
test.each(
  Object.keys(NODES).flatMap((version) => [
    ['at once', version, 'process.exit(3);'] as const,
    ['while it closes', version, 'service.close(); setTimeout(() => process.exit(3), 5);'] as const,
  ]),
)(
  'process.exit() %s ends an open service with its own code, and leaves nothing, on Node %s',
  (_, version, work) => {
    const temporary = join(folder, 'exit-tmp');
    mkdirSync(temporary, { recursive: true });
    writeFileSync(
      join(folder, 'exit.mjs'),
      `import { startTestService } from 'session-analytics/testing'; const service = await startTestService(); ${work}`,
    );
    const env = { ...envOf(version), TMPDIR: temporary };
    expect(run('node', ['exit.mjs'], { cwd: folder, env })).toMatchObject({ status: 3 });
    expect(leftIn(temporary)).toEqual([]);
  },
);

test('the types are clean for arethetypeswrong', () => {
  const args = ['--no-definitely-typed', '--profile', 'esm-only', tarballs['session-analytics']];
  expectDone(bin('attw'), args, { cwd: folder });
});

describe('strict TypeScript', () => {
  const CONSUMER = `
    import { SessionAnalyticsContainer, startTestService, type InProcessService, type Seed, type TestService } from 'session-analytics/testing';
    const seed: Seed = {
      accounts: [{ name: 'Acme', plan: undefined, apps: [{ name: 'Shop', sessions: [
        { startedAt: new Date(0), visitorId: undefined, events: [{ type: 'pageview', path: '/' }] }] }] }],
    };
    export async function viewsOf(service: TestService): Promise<string> {
      return service.url + service.app('Shop').id + service.account().key('default').apiKey;
    }
    const inProcess: InProcessService = await startTestService({ seed, now: '2026-11-20T12:00:00Z', settings: { TRUST_PROXY: '1' } });
    const hits: number = inProcess.fail({ status: 503, times: 1 }).hits;
    await viewsOf(inProcess);
    const inContainer: TestService = await new SessionAnalyticsContainer('registry.example/session-analytics')
      .withSeed(seed)
      .withSettings({ PUBLIC_API_REQUESTS_PER_MINUTE: '10' })
      .withContainer((container: { withReuse(): typeof container }) => container.withReuse())
      .start();
    // @ts-expect-error: a container has the machine's clock.
    inContainer.clock;
    // @ts-expect-error: there is no such event.
    await inProcess.record('Shop', [{ startedAt: new Date(hits), events: [{ type: 'scroll', path: '/' }] }]);
    // @ts-expect-error: no other status fails on demand.
    inProcess.fail({ status: 418 });
  `;

  test.each([
    ['nodenext', { module: 'nodenext' }],
    ['a bundler', { module: 'esnext', moduleResolution: 'bundler' }],
  ])("accepts the declarations with %s, without anybody else's types", (_, options) => {
    const compilerOptions = {
      ...options,
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      target: 'es2022',
      lib: ['es2022'],
      types: [],
    };
    writeFileSync(join(folder, 'consumer.mts'), CONSUMER);
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['consumer.mts'] }),
    );
    const { stdout, status } = run(bin('tsc'), ['-p', '.'], { cwd: folder });
    expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
  });
});

test('without testcontainers one line says what to install', () => {
  writeFileSync(
    join(folder, 'container.mjs'),
    `import { SessionAnalyticsContainer } from 'session-analytics/testing';
     await new SessionAnalyticsContainer().start().catch(({ message }) => console.log(message));`,
  );
  expect(expectDone('node', ['container.mjs'], { cwd: folder })).toBe(
    'SessionAnalyticsContainer needs the package testcontainers, which is not found. Install it ' +
      '(npm install --save-dev testcontainers), or use startTestService, which needs no Docker engine.\n',
  );
});
