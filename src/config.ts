import { getHeapStatistics } from 'node:v8';
import { z } from 'zod';
import type { StoreLocation } from './clickhouse/connect.ts';
import { isLoopback } from './domain/host.ts';
import type { RetentionOfPlans } from './metadata/types.ts';
import { readSecretFiles, SECRET_SETTINGS } from './start/secret-files.ts';
import { unknownSettings } from './unknown-settings.ts';

export interface Listener {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** The console's settings. */
export interface ConsoleConfig {
  /** Signs the cookies of sessions. Null: a secret that the service makes and keeps in the store. */
  readonly secret: string | null;
  /** Null: people sign in by links alone. */
  readonly oidc: OidcConfig | null;
}

/** An OpenID Connect provider at which people sign in. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The service's settings, read once at the start. */
export interface Config {
  readonly publicListener: Listener;
  readonly managementListener: Listener;
  readonly store: StoreLocation;
  /** The folder of the embedded store and of large answers. */
  readonly dataDir: string;
  /** With the password, if Redis has one. */
  readonly redisUrl: string | null;
  /** The longest that a start waits for a ClickHouse server and its Redis. */
  readonly storeWaitSeconds: number;
  readonly requestsPerMinute: number;
  readonly replicas: number;
  /** Number of trusted proxies in front. */
  readonly trustProxy: number;
  /** The address at which people use the console; null: this service's own. */
  readonly dashboardUrl: string | null;
  /** Null: no console. */
  readonly console: ConsoleConfig | null;
  readonly logLevel: LogLevel;
  /** From here on the log calls a request slow. */
  readonly slowRequestMs: number;
  /** The collector of traces, without a path; null: no traces. */
  readonly otlpEndpoint: string | null;
  /** The most memory for cached answers. */
  readonly answerCacheBytes: number;
  /** The most memory for cached facts and open sessions; 0: no cache. */
  readonly factsCacheBytes: number;
  /** From the start of one sealing pass to the start of the next. */
  readonly sealIntervalMs: number;
  readonly eventMaxAgeDays: number;
  /** For how many days new apps of a plan keep raw events. */
  readonly retentionOfPlans: RetentionOfPlans;
  /** Values of these settings that must not be printed. */
  readonly secrets: readonly string[];
  /** Null with the embedded store: the first start creates it in the data folder. */
  readonly managementJwtSecret: string | null;
  /** Path of a MaxMind city database. */
  readonly geoipDatabase: string | null;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Decimal digits only: Number() would also accept '', ' 7', 0x10 and 1e3. */
const whole = (least: number, most: number) => {
  const message = `must be a whole number from ${least} to ${most}`;
  return z
    .string()
    .regex(/^(0|[1-9]\d{0,9})$/, message)
    .transform(Number)
    .pipe(z.number().min(least, message).max(most, message));
};

const isSafeIssuer = (issuer: string): boolean =>
  !URL.canParse(issuer) || issuer.startsWith('https:') || isLoopback(new URL(issuer).hostname);

const text = z.string().min(1, 'is empty: give it a value or leave it out');

const url = (schemes: readonly string[], extra?: { readonly noUser: string }) =>
  text.superRefine((value, ctx) => {
    const parsed = URL.canParse(value) ? new URL(value) : null;
    if (parsed === null || parsed.host === '' || !schemes.includes(parsed.protocol)) {
      ctx.addIssue({
        code: 'custom',
        message: `must be a URL that starts with ${schemes.map((s) => `${s}//`).join(' or ')}`,
      });
    } else if (extra !== undefined && (parsed.username !== '' || parsed.password !== '')) {
      ctx.addIssue({ code: 'custom', message: extra.noUser });
    }
  });

/** An eighth of the heap's limit, and no more than several large apps need. */
const FACTS_CACHE_MIB = Math.min(256, Math.floor(getHeapStatistics().heap_size_limit / 8 / 1024 ** 2));

const Settings = z
  .object({
    PORT: whole(0, 65_535).default(3000),
    HOST: text.default('127.0.0.1'),
    MANAGEMENT_PORT: whole(0, 65_535).default(3001),
    MANAGEMENT_HOST: text.default('127.0.0.1'),
    // A password in a URL ends up in logs and error messages.
    CLICKHOUSE_URL: url(['http:', 'https:'], {
      noUser: 'must not hold a user or password: use CLICKHOUSE_USER and CLICKHOUSE_PASSWORD',
    }).optional(),
    CLICKHOUSE_USER: text.default('default'),
    // Empty is ClickHouse's own default.
    CLICKHOUSE_PASSWORD: z.string().default(''),
    CLICKHOUSE_DATABASE: z
      .string()
      .regex(
        /^[A-Za-z_][A-Za-z0-9_]{0,62}$/,
        'must be letters, digits and _ (at most 63), not starting with a digit',
      )
      .default('analytics'),
    // A name that needs no quotes in statements.
    CLICKHOUSE_CLUSTER: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, 'must be letters, digits and _, not starting with a digit')
      .optional(),
    CLICKHOUSE_SHARD_WEIGHTS: z
      .string()
      .regex(/^\d{1,4}(,\d{1,4})*$/, 'must be whole numbers from 0 to 9999 with commas between them: 1,1,4')
      .refine((value) => /[1-9]/.test(value), 'must have a weight above 0')
      .transform((value) => value.split(',').map(Number))
      .optional(),
    DATA_DIR: text.default('./data'),
    REDIS_URL: url(['redis:', 'rediss:']).optional(),
    REDIS_PASSWORD: text.optional(),
    // Longer than an hour is no wait but a failure that nobody sees.
    STORE_WAIT_SECONDS: whole(1, 3_600).default(60),
    // More than a million a minute is no limit: one process could not even count them.
    PUBLIC_API_REQUESTS_PER_MINUTE: whole(1, 1_000_000).default(120),
    PUBLIC_API_REPLICAS: whole(1, 1_000).default(1),
    TRUST_PROXY: whole(0, 10).default(0),
    DASHBOARD: z.enum(['on', 'off'], 'must be on or off').default('on'),
    DASHBOARD_URL: url(['http:', 'https:']).optional(),
    DASHBOARD_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
    // Over plain HTTP anybody on the way could sign in as anybody.
    OIDC_ISSUER: url(['http:', 'https:'])
      .refine(isSafeIssuer, 'must start with https://, unless the provider is on this machine')
      .optional(),
    OIDC_CLIENT_ID: text.optional(),
    OIDC_CLIENT_SECRET: text.optional(),
    LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
    SLOW_REQUEST_MS: whole(1, 3_600_000).default(1_000),
    OTEL_EXPORTER_OTLP_ENDPOINT: url(['http:', 'https:']).optional(),
    // A hundred years, which the store's date type holds with room to spare.
    EVENT_MAX_AGE_DAYS: whole(1, 36_500).default(730),
    RETENTION_DAYS_FREE: whole(1, 36_500).optional(),
    RETENTION_DAYS_PRO: whole(1, 36_500).optional(),
    // HS256 wants a key at least as long as its hash (RFC 7518, section 3.2).
    MANAGEMENT_JWT_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
    GEOIP_DATABASE: text.optional(),
    ANSWER_CACHE_MIB: whole(1, 65_536).default(64),
    FACTS_CACHE_MIB: whole(0, 65_536).default(FACTS_CACHE_MIB),
    // With more than an hour nothing new would be sealed.
    SEAL_INTERVAL_SECONDS: whole(1, 3_600).default(60),
  })
  // `when`: checked even if single settings are wrong, so that one start reports every error.
  .refine(
    ({ CLICKHOUSE_URL, MANAGEMENT_JWT_SECRET }) => !CLICKHOUSE_URL || MANAGEMENT_JWT_SECRET !== undefined,
    {
      path: ['MANAGEMENT_JWT_SECRET'],
      message: 'is required with CLICKHOUSE_URL: every process must know the same secret',
      when: () => true,
    },
  )
  .refine(({ CLICKHOUSE_CLUSTER, CLICKHOUSE_URL }) => CLICKHOUSE_CLUSTER === undefined || !!CLICKHOUSE_URL, {
    path: ['CLICKHOUSE_CLUSTER'],
    message: 'is set without CLICKHOUSE_URL',
    when: () => true,
  })
  .refine(
    ({ CLICKHOUSE_CLUSTER, CLICKHOUSE_SHARD_WEIGHTS }) =>
      CLICKHOUSE_SHARD_WEIGHTS === undefined || CLICKHOUSE_CLUSTER !== undefined,
    {
      path: ['CLICKHOUSE_SHARD_WEIGHTS'],
      message: 'is set without CLICKHOUSE_CLUSTER',
      when: () => true,
    },
  )
  .refine(({ REDIS_URL, REDIS_PASSWORD }) => REDIS_PASSWORD === undefined || REDIS_URL !== undefined, {
    path: ['REDIS_PASSWORD'],
    message: 'is set without REDIS_URL',
    when: () => true,
  })
  .refine(({ REDIS_URL, REDIS_PASSWORD }) => REDIS_PASSWORD === undefined || !holdsPassword(REDIS_URL), {
    path: ['REDIS_PASSWORD'],
    message: 'is set, and REDIS_URL holds a password too: use one of them',
    when: () => true,
  })
  .refine(
    ({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET }) =>
      new Set([OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET].map((value) => value === undefined)).size ===
      1,
    {
      path: ['OIDC_ISSUER'],
      message: 'belongs together with OIDC_CLIENT_ID and OIDC_CLIENT_SECRET: set all three or none',
      when: () => true,
    },
  )
  .refine(({ PUBLIC_API_REPLICAS, REDIS_URL }) => !(PUBLIC_API_REPLICAS > 1) || REDIS_URL !== undefined, {
    path: ['REDIS_URL'],
    message:
      'is required where PUBLIC_API_REPLICAS is more than 1: the processes share rate limits and locks over Redis',
    when: () => true,
  })
  .refine(
    ({ PORT, HOST, MANAGEMENT_PORT, MANAGEMENT_HOST }) =>
      PORT === 0 || PORT !== MANAGEMENT_PORT || HOST !== MANAGEMENT_HOST,
    { path: ['MANAGEMENT_PORT'], message: 'must differ from PORT', when: () => true },
  );

function passwordIn(url: string | null): string {
  const { password } = new URL(url ?? 'redis://none');
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** The names of all settings, without those that end in `_FILE`. */
export const SETTINGS = Object.keys(Settings.shape);
/** With those that name the file of a secret. */
export const KNOWN_SETTINGS: readonly string[] = [
  ...SETTINGS,
  ...SECRET_SETTINGS.map((name) => `${name}_FILE`),
];

/**
 * Reads the environment and the files of secrets; nothing else does. Throws one Error whose message names every
 * wrong setting, never a value.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { secrets, problems } = readSecretFiles(env);
  const parsed = Settings.safeParse({ ...env, ...secrets });
  const unknown = [...unknownSettings(env, KNOWN_SETTINGS)].map(
    ([name, setting]) => `${name} is unknown: did you mean ${setting}?`,
  );
  if (!parsed.success || problems.size > 0 || unknown.length > 0) {
    const lines = parsed.error?.issues
      // A secret whose file is wrong is not reported as missing too.
      .filter(({ path: [setting] }) => !problems.has(String(setting)))
      .map(({ path, message }) => `${path.join('.')} ${message}`);
    const all = [...unknown, ...problems.values(), ...new Set(lines)].map((line) => `  ${line}`);
    throw new Error(`Wrong settings:\n${all.join('\n')}`);
  }
  const settings = parsed.data;
  const database = settings.CLICKHOUSE_DATABASE;
  const redisUrl = redisUrlOf(settings);
  return Object.freeze({
    publicListener: { host: settings.HOST, port: settings.PORT },
    managementListener: { host: settings.MANAGEMENT_HOST, port: settings.MANAGEMENT_PORT },
    store:
      settings.CLICKHOUSE_URL === undefined
        ? { kind: 'embedded', dataDir: settings.DATA_DIR, database }
        : {
            kind: 'server',
            url: settings.CLICKHOUSE_URL,
            username: settings.CLICKHOUSE_USER,
            password: settings.CLICKHOUSE_PASSWORD,
            database,
            ...clusterOf(settings),
          },
    dataDir: settings.DATA_DIR,
    redisUrl,
    storeWaitSeconds: settings.STORE_WAIT_SECONDS,
    requestsPerMinute: settings.PUBLIC_API_REQUESTS_PER_MINUTE,
    replicas: settings.PUBLIC_API_REPLICAS,
    trustProxy: settings.TRUST_PROXY,
    dashboardUrl: settings.DASHBOARD_URL?.replace(/\/+$/, '') ?? null,
    console: settings.DASHBOARD === 'off' ? null : consoleOf(settings),
    logLevel: settings.LOG_LEVEL,
    slowRequestMs: settings.SLOW_REQUEST_MS,
    otlpEndpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    answerCacheBytes: settings.ANSWER_CACHE_MIB * 1024 ** 2,
    factsCacheBytes: settings.FACTS_CACHE_MIB * 1024 ** 2,
    sealIntervalMs: settings.SEAL_INTERVAL_SECONDS * 1000,
    eventMaxAgeDays: settings.EVENT_MAX_AGE_DAYS,
    retentionOfPlans: {
      ...(settings.RETENTION_DAYS_FREE === undefined ? {} : { free: settings.RETENTION_DAYS_FREE }),
      ...(settings.RETENTION_DAYS_PRO === undefined ? {} : { pro: settings.RETENTION_DAYS_PRO }),
    },
    secrets: [
      settings.MANAGEMENT_JWT_SECRET ?? '',
      settings.CLICKHOUSE_PASSWORD,
      settings.DASHBOARD_SECRET ?? '',
      settings.OIDC_CLIENT_SECRET ?? '',
      passwordIn(redisUrl),
    ].filter((secret) => secret !== ''),
    managementJwtSecret: settings.MANAGEMENT_JWT_SECRET ?? null,
    geoipDatabase: settings.GEOIP_DATABASE ?? null,
  } satisfies Config);
}

function clusterOf({
  CLICKHOUSE_CLUSTER: name,
  CLICKHOUSE_SHARD_WEIGHTS: weights,
}: z.output<typeof Settings>): Pick<Extract<StoreLocation, { kind: 'server' }>, 'cluster'> {
  if (name === undefined) return {};
  return { cluster: { name, ...(weights === undefined ? {} : { weights }) } };
}

function holdsPassword(redisUrl: string | undefined): boolean {
  return redisUrl !== undefined && URL.canParse(redisUrl) && new URL(redisUrl).password !== '';
}

function redisUrlOf({ REDIS_URL, REDIS_PASSWORD }: z.infer<typeof Settings>): string | null {
  if (REDIS_URL === undefined) return null;
  if (REDIS_PASSWORD === undefined) return REDIS_URL;
  const url = new URL(REDIS_URL);
  url.password = encodeURIComponent(REDIS_PASSWORD);
  return url.href;
}

function consoleOf({
  DASHBOARD_SECRET: secret,
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: clientId,
  OIDC_CLIENT_SECRET: clientSecret,
}: z.output<typeof Settings>): ConsoleConfig {
  const isSet = issuer !== undefined && clientId !== undefined && clientSecret !== undefined;
  return { secret: secret ?? null, oidc: isSet ? { issuer, clientId, clientSecret } : null };
}
