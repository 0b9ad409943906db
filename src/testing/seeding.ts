import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { MAX_EVENTS, MAX_SESSIONS } from '../ingestion/wire.ts';
import { AppDomain, AppName } from '../metadata/names.ts';
import { msOf } from './clock.ts';
import type { Hands } from './hands.ts';
import { assertCreatedApp, assertSeed, assertSessions } from './seed-form.ts';
import type {
  AccountSeed,
  AppSeed,
  CreatedApp,
  EventSeed,
  Instant,
  KeySeed,
  Planted,
  Seed,
  SessionSeed,
  TestAccount,
  TestKey,
} from './types.ts';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const ONE_KEY: readonly KeySeed[] = [{ name: 'default' }];

/** Plants seeds in one service and remembers the accounts, keys and apps that they have become. */
export class Garden implements Planted {
  readonly #hands: Hands;
  readonly #accounts: TestAccount[] = [];

  constructor(hands: Hands) {
    this.#hands = hands;
  }

  get accounts(): readonly TestAccount[] {
    return this.#accounts;
  }

  account(name?: string): TestAccount {
    return found('account', this.#accounts, name);
  }

  app(name?: string): CreatedApp {
    return found(
      'app',
      this.#accounts.flatMap(({ apps }) => apps),
      name,
    );
  }

  async plant(seed: Seed): Promise<Planted> {
    assertSeed(seed);
    const { accounts } = seed;
    const planted = new Garden(this.#hands);
    for (const account of accounts) {
      const made = await this.#plantAccount(account);
      this.#accounts.push(made);
      planted.#accounts.push(made);
    }
    // Last, because an account may be named before it is there.
    for (const [index, { apps = [] }] of accounts.entries()) {
      for (const [at, { sharedWith = [] }] of apps.entries()) {
        const app = planted.#accounts[index]?.apps[at];
        for (const name of sharedWith) {
          if (app !== undefined) await this.#hands.shareApp(app.id, this.account(name).id);
        }
      }
    }
    return planted;
  }

  async record(app: string | CreatedApp, sessions: readonly SessionSeed[]): Promise<number> {
    if (typeof app !== 'string') assertCreatedApp(app);
    assertSessions('sessions', sessions);
    if (typeof app !== 'string') return this.#send(app, sessions);
    const known = this.#accounts.flatMap(({ apps }) => apps).find(({ id }) => id === app);
    return this.#send(known ?? this.app(app), sessions);
  }

  async #plantAccount({ name, plan = 'pro', keys = ONE_KEY, apps = [] }: AccountSeed): Promise<TestAccount> {
    const id = await this.#hands.createAccount(valid(`account ${name}: name`, AppName, name));
    const made: TestKey[] = [];
    for (const key of keys) made.push(await this.#plantKey(id, key));
    const planted: CreatedApp[] = [];
    for (const app of apps) planted.push(await this.#plantApp(id, app));
    // Last: a suspended account can make no apps.
    if (plan !== 'pro') await this.#hands.setPlan(id, plan);
    return accountOf({ id, name, keys: made, apps: planted });
  }

  async #plantKey(account: string, { name, expiresAt, revoked = false }: KeySeed): Promise<TestKey> {
    const expiry = expiresAt === undefined ? null : msOf(expiresAt, `the expiry of key ${name}`);
    const shown = valid(`key ${name}: name`, AppName, name);
    const hasExpired = expiry !== null && expiry <= this.#hands.now();
    const { keyId, apiKey } = await this.#hands.createKey(account, shown, hasExpired ? null : expiry);
    // The service makes no key that has expired. One that was replaced at once is such a key.
    if (hasExpired) await this.#hands.revokeKey(await this.#hands.replaceKey(keyId));
    if (revoked) await this.#hands.revokeKey(keyId);
    return { name, id: keyId, apiKey };
  }

  async #plantApp(account: string, { name, domain, sessions = [] }: AppSeed): Promise<CreatedApp> {
    const input = {
      name: valid(`app ${name}: name`, AppName, name),
      domain: valid(`app ${name}: domain`, AppDomain, domain ?? `https://${randomUUID()}.example`),
    };
    const { id, secretKey } = await this.#hands.createApp(account, input);
    const app = { ...input, id, secretKey };
    await this.#send(app, sessions);
    return app;
  }

  async #send(app: CreatedApp, seeds: readonly SessionSeed[]): Promise<number> {
    let accepted = 0;
    for (const batch of batchesOf(seeds)) {
      const result = await this.#hands.send(app, batch.map(wireSession));
      accepted += result.accepted;
      const [first] = result.rejected;
      if (first === undefined) continue;
      const { startedAt } = batch[first.session] ?? {};
      const event = first.event === null ? '' : `, event ${first.event}`;
      throw new Error(
        `${app.name}: the session of ${String(startedAt)}${event} was rejected (${first.code}): ${first.message}`,
      );
    }
    return accepted;
  }
}

/** Returns the value in the service's form. Throws an Error that names `what`. */
function valid<Schema extends z.ZodType>(what: string, schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Error(`${what}: ${parsed.error.issues.map(({ message }) => message).join(' ')}`);
}

function accountOf(account: Omit<TestAccount, 'apiKey' | 'key'>): TestAccount {
  const key = (name?: string): TestKey => found(`key of ${account.name}`, account.keys, name);
  return {
    ...account,
    key,
    get apiKey() {
      return key().apiKey;
    },
  };
}

/** Returns the last one with this name, or the first one of all. */
function found<T extends { readonly name: string }>(what: string, all: readonly T[], name?: string): T {
  const one = name === undefined ? all[0] : all.findLast((each) => each.name === name);
  if (one !== undefined) return one;
  const known = all.length === 0 ? 'None was seeded.' : `Seeded: ${all.map((each) => each.name).join(', ')}.`;
  throw new Error(
    name === undefined ? `There is no ${what}. ${known}` : `There is no ${what} "${name}". ${known}`,
  );
}

/** Splits sessions into batches that the service takes. */
function* batchesOf(sessions: readonly SessionSeed[]): Generator<SessionSeed[]> {
  let batch: SessionSeed[] = [];
  let events = 0;
  for (const session of sessions) {
    if (batch.length === MAX_SESSIONS || (batch.length > 0 && events + session.events.length > MAX_EVENTS)) {
      yield batch;
      [batch, events] = [[], 0];
    }
    batch.push(session);
    events += session.events.length;
  }
  if (batch.length > 0) yield batch;
}

function wireSession({ startedAt, id, visitorId, context, events, ...rest }: SessionSeed): object {
  return {
    ...rest,
    id: id ?? randomUUID(),
    visitorId: visitorId ?? randomUUID(),
    startedAt: iso(startedAt),
    context: { userAgent: BROWSER, ...context },
    events: events.map(({ timestamp, ...event }: EventSeed) => ({
      ...event,
      timestamp: iso(timestamp ?? startedAt),
    })),
  };
}

const iso = (instant: Instant): string => new Date(msOf(instant, 'a session')).toISOString();
