import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';

const MIB = 1024 ** 2;

const complaint = (env: Record<string, string>): string => {
  try {
    readConfig(env);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return '';
};

describe('readConfig', () => {
  test('defaults without any setting', () => {
    expect(readConfig({})).toEqual({
      publicListener: { host: '127.0.0.1', port: 3000 },
      managementListener: { host: '127.0.0.1', port: 3001 },
      store: { kind: 'embedded', dataDir: './data', database: 'analytics' },
      dataDir: './data',
      redisUrl: null,
      storeWaitSeconds: 60,
      requestsPerMinute: 120,
      replicas: 1,
      trustProxy: 0,
      dashboardUrl: null,
      console: { secret: null, oidc: null },
      logLevel: 'info',
      slowRequestMs: 1_000,
      otlpEndpoint: null,
      answerCacheBytes: 64 * MIB,
      factsCacheBytes: Math.min(256, Math.floor(getHeapStatistics().heap_size_limit / 8 / MIB)) * MIB,
      sealIntervalMs: 60_000,
      eventMaxAgeDays: 730,
      retentionOfPlans: {},
      secrets: [],
      managementJwtSecret: null,
      geoipDatabase: null,
    });
    expect(Object.isFrozen(readConfig({}))).toBe(true);
  });

  test('a retention for new apps, by plan', () => {
    const { retentionOfPlans } = readConfig({ RETENTION_DAYS_FREE: '30' });
    expect(retentionOfPlans).toEqual({ free: 30 });
    expect(complaint({ RETENTION_DAYS_PRO: '0' })).toContain(
      'RETENTION_DAYS_PRO must be a whole number from 1',
    );
  });

  test('a server store', () => {
    const { store, secrets } = readConfig({
      REDIS_URL: 'redis://:r%20w@redis.example',
      CLICKHOUSE_URL: 'https://db.example:8443',
      CLICKHOUSE_USER: 'api',
      CLICKHOUSE_PASSWORD: 'p w',
      CLICKHOUSE_DATABASE: 'shop',
      MANAGEMENT_JWT_SECRET: 'x'.repeat(32),
    });
    expect(store).toEqual({
      kind: 'server',
      url: 'https://db.example:8443',
      username: 'api',
      password: 'p w',
      database: 'shop',
    });
    expect(secrets).toEqual(['x'.repeat(32), 'p w', 'r w']);
  });

  test('one message names every wrong setting, even those that depend on others, and never a value', () => {
    const message = complaint({
      PORT: '0x10',
      HOST: '',
      PUBLIC_API_REQUESTS_PER_MINUTE: '0',
      CLICKHOUSE_URL: 'http://user:hunter2@db.example',
      REDIS_URL: 'http://redis',
      PUBLIC_API_REPLICAS: '2',
      CLICKHOUSE_DATABASE: 'a-b',
      LOG_LEVEL: 'loud',
    });
    expect(message.split('\n')).toEqual([
      'Wrong settings:',
      expect.stringMatching(/^ {2}PORT must be a whole number/),
      expect.stringMatching(/^ {2}HOST is empty/),
      expect.stringMatching(/^ {2}CLICKHOUSE_URL must not hold a user/),
      expect.stringMatching(/^ {2}CLICKHOUSE_DATABASE must be/),
      expect.stringMatching(/^ {2}REDIS_URL must be a URL that starts with redis:\/\/ or rediss:\/\//),
      expect.stringMatching(/^ {2}PUBLIC_API_REQUESTS_PER_MINUTE must be/),
      expect.stringMatching(/^ {2}LOG_LEVEL must be one of/),
      expect.stringMatching(/^ {2}MANAGEMENT_JWT_SECRET is required with CLICKHOUSE_URL/),
    ]);
    expect(message).not.toMatch(/hunter2|0x10|loud/);
  });

  test('numbers are plain decimal digits', () => {
    for (const wrong of [
      '',
      ' 7',
      '7 ',
      '0x10',
      '1e3',
      '7.0',
      '-1',
      '+7',
      '007',
      'seven',
      '70000',
      '99999999999',
    ]) {
      expect(complaint({ PORT: wrong })).toMatch(
        /^Wrong settings:\n {2}PORT must be a whole number from 0 to 65535$/,
      );
    }
    expect(readConfig({ PORT: '0', MANAGEMENT_PORT: '0' }).publicListener.port).toBe(0);
  });

  test('a secret may be in a file, whose last line break does not count', () => {
    const folder = mkdtempSync(join(tmpdir(), 'analytics-config-'));
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const config = readConfig({
      CLICKHOUSE_URL: 'http://db.example',
      CLICKHOUSE_PASSWORD_FILE: file('clickhouse', 'p w\n'),
      MANAGEMENT_JWT_SECRET_FILE: file('jwt', `${'x'.repeat(31)} \r\n`),
      REDIS_URL_FILE: file('url', 'rediss://user@redis.example:6380/2\n'),
      REDIS_PASSWORD_FILE: file('redis', 'p@ss:w/rd%41\n'),
    });
    expect(config.store).toMatchObject({ password: 'p w' });
    expect(config.managementJwtSecret).toBe(`${'x'.repeat(31)} `);
    expect(config.redisUrl).toBe('rediss://user:p%40ss%3Aw%2Frd%2541@redis.example:6380/2');
    const message = complaint({
      CLICKHOUSE_URL: 'http://db.example',
      CLICKHOUSE_PASSWORD: 'hunter2',
      CLICKHOUSE_PASSWORD_FILE: file('again', 'hunter3'),
      MANAGEMENT_JWT_SECRET_FILE: join(folder, 'missing'),
      REDIS_PASSWORD_FILE: file('empty', '\n'),
      PORT: 'x',
    });
    rmSync(folder, { recursive: true });
    expect(message.split('\n')).toEqual([
      'Wrong settings:',
      '  CLICKHOUSE_PASSWORD_FILE is set, and CLICKHOUSE_PASSWORD too: use one of them',
      '  MANAGEMENT_JWT_SECRET_FILE names a file that cannot be read (ENOENT)',
      '  REDIS_PASSWORD_FILE names an empty file',
      expect.stringMatching(/^ {2}PORT must be/),
    ]);
  });

  test('a password of Redis needs a URL that holds none', () => {
    expect(complaint({ REDIS_PASSWORD: 'x' })).toBe(
      'Wrong settings:\n  REDIS_PASSWORD is set without REDIS_URL',
    );
    expect(complaint({ REDIS_PASSWORD: 'x', REDIS_URL: 'redis://:y@redis' })).toBe(
      'Wrong settings:\n  REDIS_PASSWORD is set, and REDIS_URL holds a password too: use one of them',
    );
    expect(readConfig({ REDIS_PASSWORD: 'x', REDIS_URL: 'redis://redis:6379' }).redisUrl).toBe(
      'redis://:x@redis:6379',
    );
  });

  test('several processes need Redis', () => {
    expect(complaint({ PUBLIC_API_REPLICAS: '2' })).toBe(
      'Wrong settings:\n  REDIS_URL is required where PUBLIC_API_REPLICAS is more than 1: the processes share rate limits and locks over Redis',
    );
    expect(readConfig({ PUBLIC_API_REPLICAS: '1' }).replicas).toBe(1);
    expect(readConfig({ PUBLIC_API_REPLICAS: '2', REDIS_URL: 'redis://127.0.0.1' }).replicas).toBe(2);
    expect(complaint({ PUBLIC_API_REPLICAS: '0' })).not.toContain('REDIS_URL');
  });

  test('two listeners on one port', () => {
    expect(complaint({ PORT: '4000', MANAGEMENT_PORT: '4000' })).toContain(
      'MANAGEMENT_PORT must differ from PORT',
    );
    expect(complaint({ PORT: '4000', MANAGEMENT_PORT: '4000', MANAGEMENT_HOST: '10.0.0.1' })).toBe('');
  });

  test('the settings of a provider belong together', () => {
    expect(complaint({ OIDC_CLIENT_ID: 'x' })).toBe(
      'Wrong settings:\n  OIDC_ISSUER belongs together with OIDC_CLIENT_ID and OIDC_CLIENT_SECRET: set all three or none',
    );
  });
});

describe('a misspelled setting', () => {
  test.each([
    ['PUBLIC_API_REQUESTS_PER_MINUT', 'PUBLIC_API_REQUESTS_PER_MINUTE'],
    ['PUBLIC_API_REQUESTS_PER_SECOND', 'PUBLIC_API_REQUESTS_PER_MINUTE'],
    ['public_api_requests_per_minute', 'PUBLIC_API_REQUESTS_PER_MINUTE'],
    ['PUBLIC_API_REPLICA', 'PUBLIC_API_REPLICAS'],
    ['REDIS_ULR', 'REDIS_URL'],
    ['REDIS_URI', 'REDIS_URL'],
    ['REDIS_PASWORD_FILE', 'REDIS_PASSWORD_FILE'],
    ['CLICKHOUSE_URLL', 'CLICKHOUSE_URL'],
    ['CLICK_HOUSE_URL', 'CLICKHOUSE_URL'],
    ['CLICKHOUSE_URL_FILE', 'CLICKHOUSE_URL'],
    ['DATADIR', 'DATA_DIR'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['TRUST-PROXY', 'TRUST_PROXY'],
    ['RETENTION_DAYS_FRE', 'RETENTION_DAYS_FREE'],
    ['RETENTION_DAYS', 'RETENTION_DAYS_PRO'],
    ['SEAL_INTERVAL_MS', 'SEAL_INTERVAL_SECONDS'],
    ['ANSWER_CACHE_MB', 'ANSWER_CACHE_MIB'],
    ['MANAGEMENT_HOSTS', 'MANAGEMENT_HOST'],
    ['OIDC_CLIENT_SECRET_FLIE', 'OIDC_CLIENT_SECRET_FILE'],
  ])('%s: did you mean %s?', (wrong, meant) => {
    expect(complaint({ [wrong]: '7' })).toBe(
      `Wrong settings:\n  ${wrong} is unknown: did you mean ${meant}?`,
    );
  });

  test('is named with the wrong ones, and without its value', () => {
    expect(complaint({ REDIS_PASSWRD: 'hunter2', PORT: 'x' })).toBe(
      'Wrong settings:\n  REDIS_PASSWRD is unknown: did you mean REDIS_PASSWORD?\n  PORT must be a whole number from 0 to 65535',
    );
  });

  test('names of others are left alone', () => {
    const services = [
      'clickhouse',
      'redis',
      'dashboard',
      'public-api',
      'management-api',
      'session-analytics',
    ];
    // Kubernetes sets these for each Service, as Docker's links did.
    const links = services.flatMap((service) => {
      const name = service.toUpperCase().replace('-', '_');
      const port = `${name}_PORT_8123_TCP`;
      return [
        ...['SERVICE_HOST', 'SERVICE_PORT', 'SERVICE_PORT_HTTP', 'PORT'].map((end) => `${name}_${end}`),
        ...['', '_PROTO', '_PORT', '_ADDR'].map((end) => `${port}${end}`),
      ];
    });
    const others = [
      'HOSTNAME,HOSTS,POST,PORTS,port,host,PATH,HOME,PWD,SHLVL,TZ,LANG,LOGNAME,USER,TERM,EDITOR,MAIL,TMPDIR,XDG_DATA_DIRS',
      'NODE_ENV,NODE_OPTIONS,NODE_PATH,UV_THREADPOOL_SIZE,MALLOC_ARENA_MAX,npm_config_cache,npm_package_name,INIT_CWD',
      'OTEL_SERVICE_NAME,OTEL_EXPORTER_OTLP_HEADERS,OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,OTEL_TRACES_SAMPLER_ARG',
      'CLICKHOUSE_DB,CLICKHOUSE_HOST,CLICKHOUSE_DEFAULT_ACCESS_MANAGEMENT,REDIS_HOST,REDIS_TLS_URL,REDIS_PRIVATE_URL',
      'PUBLIC_API_URL,PUBLIC_API_KEY,PUBLIC_URL,DASHBOARD_TITLE,OIDC_SCOPES,LOG_FORMAT,LOG_FILE,DATA_FILE,STORE,TESTS,CI',
      'NOTIFY_SOCKET,INVOCATION_ID,JOURNAL_STREAM,CREDENTIALS_DIRECTORY,STATE_DIRECTORY,KUBERNETES_PORT_443_TCP_ADDR',
    ].flatMap((names) => names.split(','));
    const env = Object.fromEntries([...links, ...others].map((name) => [name, 'tcp://10.0.0.1:1']));
    expect(readConfig(env)).toEqual(readConfig({}));
    // The setting is in use, so the other name means something else.
    expect(
      complaint({ REDIS_URL: 'redis://127.0.0.1', REDIS_URI: 'x', LOG_LEVEL: 'info', LOGLEVEL: '3' }),
    ).toBe('');
  });
});
