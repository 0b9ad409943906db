import { connect } from 'node:net';
import { expect } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../src/domain/errors.ts';
import { type AccountId, type AppId, accountId, appId } from '../../src/domain/ids.ts';
import type { Endpoint } from '../../src/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../src/endpoints/index.ts';
import { Problem } from '../../src/http/request/problem.ts';
import type { PlanName } from '../../src/metadata/types.ts';
import type { Service } from '../../src/start/service.ts';
import { openService } from '../../src/testing/in-process.ts';
import type { Instant, SessionSeed, TestClock } from '../../src/testing/types.ts';
import { type Answer, type Ask, send } from '../support/http.ts';
import { clusterSettings } from '../support/store.ts';

export { type Answer, type Ask, send };

/** An account with a key and an app. A test uses one to have its own rate window and data. */
export interface Tenant {
  /** A key of `account`; its analytics app is `app`. */
  readonly key: string;
  readonly account: AccountId;
  readonly app: AppId;
  readonly secretKey: string;
  /** Sends a request with `key`, unless `ask` names another. */
  ask(path: string, ask?: Ask): Promise<Answer>;
}

/** The service and its first tenant. */
export interface TestService extends Service, Tenant {
  readonly clock: TestClock;
  /** The log so far. */
  logged(): readonly Readonly<Record<string, unknown>>[];
  newAccount(plan?: PlanName): Promise<{ readonly account: AccountId; readonly key: string }>;
  newTenant(): Promise<Tenant>;
  /** Stores sessions in the form of an SDK. `into` is an app; default: `app`. */
  record(sessions: readonly SessionSeed[], into?: string): Promise<void>;
}

export interface TestServiceOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The time at which the service's clock stands still. */
  readonly now?: Instant;
}

/**
 * Starts the whole service with the test kit, on its own store and on free ports, with an account, a key and an app.
 */
export async function testService({ env = {}, now }: TestServiceOptions = {}): Promise<TestService> {
  const lines: string[] = [];
  const kit = await openService({
    settings: { LOG_LEVEL: 'debug', ...('CLICKHOUSE_URL' in env ? {} : clusterSettings()), ...env },
    onLog: (line) => void lines.push(line),
    now,
  });
  const newAccount = async (plan: PlanName = 'pro') => {
    const { id, apiKey } = (await kit.plant({ accounts: [{ name: 'Acme', plan }] })).account();
    return { account: accountId(id), key: apiKey };
  };
  const newTenant = async (): Promise<Tenant> => {
    const apps = [{ name: 'Shop', domain: 'https://shop.example' }];
    const planted = await kit.plant({ accounts: [{ name: 'Acme', apps }] });
    const { id: account, apiKey } = planted.account();
    const { id: app, secretKey } = planted.app();
    const ask: Tenant['ask'] = (path, { key = apiKey, ...rest } = {}) =>
      send(kit.url, path, { key, ...rest });
    return { account: accountId(account), key: apiKey, app: appId(app), secretKey, ask };
  };
  const first = await newTenant();
  return {
    ...kit.service,
    ...first,
    clock: kit.clock,
    logged: () => lines.map((line) => JSON.parse(line)),
    newAccount,
    newTenant,
    record: async (sessions, into = first.app) => {
      await kit.record(into, sessions);
    },
    close: async () => {
      await kit.close();
      // Checks in every test file that the process printed no credential.
      expect(credentialsIn(lines.join(''))).toEqual([]);
    },
  };
}

/** Returns every text that looks like an API key, an app's secret, a JWT or an Authorization value. */
export const credentialsIn = (text: string): string[] =>
  text.match(/(service_api_|app_secret_)\w+|(bearer|basic) +[\w.~+/=-]{8,}|\beyJ\w+\.\w+/gi) ?? [];

/** Sends raw bytes and returns the first answer. HTTP clients would refuse to send them. */
export function sendRaw(base: string, bytes: string): Promise<Answer> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let received = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      received += chunk;
    });
    // The service may reset the connection behind its answer while it is still being sent to.
    socket.on('error', (error) => {
      if (received === '') reject(error);
    });
    socket.on('close', () => resolve(parseRaw(received)));
  });
}

export function parseRaw(received: string): Answer {
  const [head = '', text = ''] = received.split('\r\n\r\n', 2);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  return {
    status: Number(statusLine.split(' ')[1] ?? 0),
    headers,
    text,
    json: text.startsWith('{') ? JSON.parse(text) : undefined,
  };
}

/** Expects the problem `code` in every respect, and returns its body. */
export function expectProblem(answer: Answer, code: ErrorCode): Problem {
  const { status, title } = ERROR_CODES[code];
  expect({ status: answer.status, body: answer.json }).toMatchObject({
    status,
    body: { type: `/docs/errors#${code}`, title, status, code },
  });
  const body = Problem.parse(answer.json);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.headers['x-request-id']).toBe(body.requestId);
  expect(body.errors !== undefined).toBe(code === 'validation_failed');
  expect(body.retryAfterSeconds !== undefined).toBe(status === 429);
  if (status === 401) expect(answer.headers['www-authenticate']).toBe('Bearer');
  if (status === 429 || status === 503)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  return body;
}

/** Expects `validation_failed`, and returns its field errors. */
export const expectInvalid = (answer: Answer): readonly { field: string; message: string }[] =>
  expectProblem(answer, 'validation_failed').errors ?? [];

export function endpointOf(operationId: string): Endpoint {
  const endpoint = ENDPOINTS.find((each) => each.operationId === operationId);
  if (endpoint === undefined) throw new Error(`no operation ${operationId}`);
  return endpoint;
}
