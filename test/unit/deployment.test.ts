import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { SETTINGS } from '../../src/config.ts';
import { SECRET_SETTINGS } from '../../src/start/secret-files.ts';

/* What can be checked of the image and of docker-compose.yml without a Docker engine. */

const Service = z.object({
  image: z.string(),
  user: z.string().default(''),
  build: z.object({ target: z.string() }).optional(),
  environment: z.record(z.string(), z.string().nullable()).default({}),
  secrets: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  tmpfs: z.array(z.string()).default([]),
  command: z.array(z.string()).default([]),
  read_only: z.boolean().default(false),
  init: z.boolean().default(false),
  restart: z.string().default(''),
  cap_drop: z.array(z.string()).default([]),
  cap_add: z.array(z.string()).default([]),
  privileged: z.boolean().default(false),
  security_opt: z.array(z.string()).default([]),
  mem_limit: z.string().default(''),
  pids_limit: z.number().default(0),
  logging: z.object({ driver: z.string(), options: z.record(z.string(), z.string()) }).optional(),
});
const Compose = z.object({
  services: z.record(z.string(), Service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});

const text = readFileSync('docker-compose.yml', 'utf8');
const compose = Compose.parse(parse(text, { merge: true }));
const services = Object.entries(compose.services);
const apis = services.filter(([, { build }]) => build !== undefined);
const dockerfile = readFileSync('Dockerfile', 'utf8');

describe('docker-compose.yml', () => {
  test.each(services)('%s: no privileges, bounded memory, processes and log', (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      init: true,
      restart: 'unless-stopped',
      cap_drop: ['ALL'],
      cap_add: [],
      privileged: false,
      security_opt: ['no-new-privileges:true'],
      logging: { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } },
    });
    expect(service.user).not.toMatch(/^(|root|0)(:|$)/);
    expect(service.mem_limit).toMatch(/^\d+m$/);
    expect(service.pids_limit).toBeGreaterThan(0);
    expect(service.image).toMatch(/^session-analytics:server$|:\d+\.\d+[\w.-]*$/);
    for (const port of service.ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    for (const volume of service.volumes) expect(volume).toMatch(/^[\w-]+:|:ro$/);
  });

  test('all of it fits in 4 GiB', () => {
    const mib = services.map(([, { mem_limit }]) => Number.parseInt(mem_limit, 10));
    expect(mib.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(4096);
  });

  test('two API processes are equal, and the proxy knows both', () => {
    expect(apis.map(([name]) => name)).toEqual(['api-1', 'api-2']);
    const [one, two] = apis.map(([name, api]) => {
      // Each empties its folder at the start.
      expect(api.volumes).toEqual([`${name}:/data`]);
      return { ...api, volumes: [] };
    });
    expect(one).toEqual(two);
    const proxy = readFileSync('deploy/compose/haproxy.cfg', 'utf8');
    const known = [...proxy.matchAll(/^ {4}server (\S+) \1:3000$/gm)].map(([, name]) => name);
    expect(known).toEqual(['api-1', 'api-2']);
    expect(compose.services['proxy']?.volumes).toContain(
      './deploy/compose/haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro',
    );
  });

  test('every setting is passed on, with the name that it has outside', () => {
    const { environment = {} } = apis[0]?.[1] ?? {};
    // The image's own: they describe the inside of the container. PORT is where the proxy is published.
    const inside = { HOST: '0.0.0.0', PORT: '3000', DATA_DIR: '/data' };
    expect(environment).toMatchObject(inside);
    expect(text).toMatch(/"127\.0\.0\.1:\$\{PORT:-3000\}:3000"/);
    for (const name of SETTINGS.filter((setting) => !(setting in inside))) {
      const given = [name, `${name}_FILE`].filter((setting) => setting in environment);
      const isSecret = SECRET_SETTINGS.some((secret) => secret === name) && name !== 'REDIS_URL';
      expect(given, name).toEqual([isSecret ? `${name}_FILE` : name]);
      if (!isSecret) expect(environment[name] ?? `\${${name}:-}`).toMatch(new RegExp(`^\\$\\{${name}:-`));
    }
    // OpenTelemetry's packages read their other variables themselves.
    const isOpenTelemetrys = (name: string): boolean => name.startsWith('OTEL_');
    const known = [...SETTINGS, ...SECRET_SETTINGS.map((name) => `${name}_FILE`)];
    expect(
      Object.keys(environment).filter((name) => !known.includes(name) && !isOpenTelemetrys(name)),
    ).toEqual([]);
  });

  test('secrets are files, and in no variable or argument', () => {
    for (const [name, service] of services) {
      for (const [setting, value] of Object.entries(service.environment)) {
        if (setting.endsWith('_FILE')) {
          if (value === null) continue;
          expect(service.secrets, name).toContain(/^\/run\/secrets\/(\w+)$/.exec(value ?? '')?.[1]);
        } else {
          expect(setting, name).not.toMatch(/PASSWORD|SECRET/);
        }
      }
      for (const secret of service.secrets) {
        expect(compose.secrets[secret]).toEqual({ file: `\${SECRETS_DIR:-./secrets}/${secret}` });
      }
    }
    expect(text).not.toMatch(/\$\{\w*(PASSWORD|SECRET\b)/);
    expect(readFileSync('.gitignore', 'utf8').split('\n')).toContain('/secrets/');
  });
});

describe('Dockerfile', () => {
  const stages = dockerfile.split(/^(?=FROM )/m).slice(1);
  const stage = (name: string): string =>
    stages.find((each) => each.startsWith(`FROM `) && each.includes(` AS ${name}\n`)) ?? '';

  test('the images run as a user without privileges, and say whether they are healthy', () => {
    expect(stage('base')).toMatch(/^USER 1000:1000$/m);
    expect(stage('base')).toMatch(/^HEALTHCHECK /m);
    // Not in memory, as /tmp is in a hardened container.
    expect(stage('base')).toMatch(/^ENV .* DATA_DIR=\/data TMPDIR=\/data$/m);
    expect(stage('base').indexOf('USER 1000')).toBeGreaterThan(stage('base').lastIndexOf('RUN '));
    for (const name of ['server', 'embedded']) {
      expect(stage(name)).toMatch(/^FROM base AS /);
      expect(stage(name)).not.toMatch(/^(USER|RUN|ENV)/m);
    }
    expect(stages.at(-1)).toBe(stage('embedded'));
  });

  test('bases are pinned, and packages come from the lock file', () => {
    const bases = stages.map((each) => /^FROM (\S+)/.exec(each)?.[1] ?? '');
    for (const base of bases.filter((name) => !['base'].includes(name))) {
      expect(base).toMatch(/^(node:\d+-bookworm-slim|debian:bookworm-slim)$/);
    }
    expect(dockerfile).not.toMatch(/npm (i|install)\b/);
    expect(stage('server-packages')).toContain('--omit=dev --omit=optional');
    expect(stage('packages')).toContain('--omit=dev ');
    expect(stage('packages')).not.toContain('--omit=optional');
  });

  test('the images carry the pages that messages name', () => {
    expect(stage('base')).toMatch(/^COPY README\.md \.\/$/m);
    expect(stage('base')).toMatch(/^COPY docs \.\/docs$/m);
  });

  test('what is copied is there, and is sent to the engine', () => {
    const sent = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, paths = '']) =>
      paths.split(' '),
    );
    expect(copied.length).toBeGreaterThan(8);
    for (const path of copied) {
      expect(existsSync(path), path).toBe(true);
      expect(sent).toContain(path);
    }
  });
});
