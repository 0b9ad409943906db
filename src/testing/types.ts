/*
 * The public types of the test kit. This file imports nothing, so that a consumer's compiler needs no types of the
 * service, of zod or of testcontainers.
 */

/** An instant: ISO 8601 with an offset or `Z`, or a Date. */
export type Instant = string | Date;

/** An event of a seeded session. */
export interface EventSeed {
  readonly type: 'pageview' | 'click' | 'error' | 'engagement' | 'custom';
  readonly path: string;
  /** The start of the session by default. */
  readonly timestamp?: Instant | undefined;
  /** Of a click. */
  readonly target?: string | undefined;
  /** Of an error. */
  readonly message?: string | undefined;
  /** Of an engagement: the visible time of a page, in ms. */
  readonly durationMs?: number | undefined;
  /** Of a custom event. */
  readonly name?: string | undefined;
  /** Of a custom event: at most 20. */
  readonly properties?: Readonly<Record<string, string | number | boolean>> | undefined;
}

/** A session in the form in which an SDK sends it. All but its start and its events has a default. */
export interface SessionSeed {
  readonly startedAt: Instant;
  readonly events: readonly EventSeed[];
  /** A new id by default. */
  readonly id?: string | undefined;
  /** A new visitor by default. */
  readonly visitorId?: string | undefined;
  readonly context?: ContextSeed | undefined;
}

export interface ContextSeed {
  readonly referrer?: string | undefined;
  readonly utm?:
    | Readonly<Partial<Record<'source' | 'medium' | 'campaign' | 'term' | 'content', string>>>
    | undefined;
  readonly language?: string | undefined;
  readonly screen?: string | undefined;
  /** A desktop browser by default. */
  readonly userAgent?: string | undefined;
  readonly location?:
    | {
        readonly country?: string | undefined;
        readonly region?: string | undefined;
        readonly city?: string | undefined;
        readonly latitude?: number | undefined;
        readonly longitude?: number | undefined;
      }
    | undefined;
}

export interface AppSeed {
  readonly name: string;
  /** An http or https origin. By default one under `.example` that no other app has. */
  readonly domain?: string | undefined;
  /** Names of accounts that may read the app. */
  readonly sharedWith?: readonly string[] | undefined;
  readonly sessions?: readonly SessionSeed[] | undefined;
}

export interface KeySeed {
  readonly name: string;
  /** No expiry by default. A key whose expiry has passed is planted as one that has just expired. */
  readonly expiresAt?: Instant | undefined;
  readonly revoked?: boolean | undefined;
}

export interface AccountSeed {
  readonly name: string;
  /** `pro` by default. A seed may give any plan any number of apps up to 100. */
  readonly plan?: 'free' | 'pro' | 'suspended' | undefined;
  /** One key named `default` by default. */
  readonly keys?: readonly KeySeed[] | undefined;
  readonly apps?: readonly AppSeed[] | undefined;
}

/** Accounts with their keys, apps and events, as a plain value. */
export interface Seed {
  readonly accounts: readonly AccountSeed[];
}

export interface TestKey {
  readonly name: string;
  readonly id: string;
  readonly apiKey: string;
}

/** An app as the answer to `POST /api/v1/apps` has it. */
export interface CreatedApp {
  readonly name: string;
  /** The `appId` of questions and of the SDK. */
  readonly id: string;
  readonly domain: string;
  /** The SDK's credential. */
  readonly secretKey: string;
}

export interface TestAccount {
  readonly name: string;
  readonly id: string;
  /** The first key. Throws if the account has none. */
  readonly apiKey: string;
  readonly keys: readonly TestKey[];
  readonly apps: readonly CreatedApp[];
  /** Finds a key by its name. Throws an Error with the known names if there is none. */
  key(name: string): TestKey;
}

/**
 * The accounts, keys and apps that seeds have become. Without a name the first one is returned; an unknown name throws an
 * Error with the known ones.
 */
export interface Planted {
  readonly accounts: readonly TestAccount[];
  account(name?: string): TestAccount;
  /** Finds an app of any account. If several have the name, the one that was planted last. */
  app(name?: string): CreatedApp;
}

/** A running service for tests, in this process or in a container. Looks up everything that was planted. */
export interface TestService extends Planted {
  /** The address of the Public API and of the SDK's endpoint, without a trailing slash. */
  readonly url: string;
  readonly managementUrl: string;
  /**
   * Adds accounts, keys, apps and events. Resolves when questions count the events. No request is counted in the rate
   * window of a seeded key. Throws an Error that names the session if one is rejected.
   */
  plant(seed: Seed): Promise<Planted>;
  /**
   * Adds sessions to an app of a seed, by its name or its id, or to an app that was created over the Public API.
   * Resolves to the number of events.
   */
  record(app: string | CreatedApp, sessions: readonly SessionSeed[]): Promise<number>;
  /** Stops the service and removes its data. Can be called again. */
  close(): Promise<void>;
}

/** The clock of a service in this process. */
export interface TestClock {
  now(): Date;
  /** Stops the clock at this instant. */
  set(instant: Instant): void;
  /** Moves the clock on. A clock that stands still goes on to stand still. */
  advance(ms: number): void;
}

/** A failure of requests. */
export type Fault = (
  | {
      /** The answer of a service with a bug: 500 `internal`. */
      readonly status: 500;
    }
  | {
      /** The answer of a proxy that cannot reach the service: a page of HTML, without a header of the service's own. */
      readonly status: 502;
    }
  | {
      /** The connection is reset instead of an answer. */
      readonly reset: true;
    }
  | {
      /** The connection breaks off after so many bytes of the answer's body. A shorter answer is whole. */
      readonly cutAfterBytes: number;
    }
  | {
      /** The answer of a service that is overloaded, or whose store does not answer. */
      readonly status: 503;
      readonly code?: 'overloaded' | 'store_unavailable' | undefined;
      /** 1 by default. */
      readonly retryAfterSeconds?: number | undefined;
    }
  | {
      /** The answer to a key that has used up its window. */
      readonly status: 429;
      /** 1 by default. */
      readonly retryAfterSeconds?: number | undefined;
    }
  | {
      /** The request waits for so long and is then answered as usual. */
      readonly delayMs: number;
    }
) & {
  /** Only requests whose path begins with this fail, such as `/api/v1/sessions/pageviews`. All by default. */
  readonly path?: string | undefined;
  /** The number of requests that fail. All by default, until `recover`. */
  readonly times?: number | undefined;
};

/** A fault that was asked for. */
export interface Failing {
  /** The number of requests that have met it. */
  readonly hits: number;
  /** Ends this fault. Requests that wait go on at once. */
  end(): void;
}

/** A key's rate window. */
export interface Window {
  /** How many requests the key may still make. */
  readonly remaining: number;
  /** When the window ends, in seconds from now; 60 by default. */
  readonly resetSeconds?: number | undefined;
}

/** A service in this process. Its own members, beside those of `TestService`, are impossible with a container. */
export interface InProcessService extends TestService {
  readonly clock: TestClock;
  /** Sets the window of a key, as if it had made requests. */
  setRateLimit(apiKey: string, window: Window): Promise<void>;
  /** Uses up the window of a key: its next request is answered with 429. */
  exhaustRateLimit(apiKey: string): Promise<void>;
  /** Makes requests fail. Of several faults that apply, the one that was asked for first counts. */
  fail(fault: Fault): Failing;
  /** Ends all faults. */
  recover(): void;
}

export interface InProcessOptions {
  readonly seed?: Seed | undefined;
  /** The instant at which the clock stands still. By default it follows the machine's clock. */
  readonly now?: Instant | undefined;
  /** Settings of the README by name, such as `{ PUBLIC_API_REQUESTS_PER_MINUTE: '10' }`. The environment is not read. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Called with each line of the service's log, which is JSON. By default there is no log. */
  readonly onLog?: ((line: string) => void) | undefined;
}
