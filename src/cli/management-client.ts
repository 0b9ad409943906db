import { type IncomingMessage, request } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { Config } from '../config.ts';
import { codeOf } from '../domain/thrown.ts';
import type { Clock } from '../domain/time.ts';
import { managementSecretFile, readManagementSecret } from '../management/secret.ts';
import { signManagementToken } from '../management/token.ts';
import { CliError } from './cli-error.ts';

export type ManagementMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Calls the running service. */
export interface ManagementClient {
  /**
   * Resolves to the answer's JSON. `path` is below /management/v1. Rejects with a CliError that says what to
   * do if the service is not running, or if it refused the token or the request.
   */
  call(method: ManagementMethod, path: string, body?: unknown): Promise<unknown>;
  /** Calls with a body that is JSON text already. `limitMs`: the longest silence of the service. */
  callWith(
    method: ManagementMethod,
    path: string,
    json: string | undefined,
    limitMs?: number,
  ): Promise<unknown>;
  /** Writes the bytes of an answer to `to`. Rejects like `call`, also if they end too early. */
  download(path: string, to: Writable): Promise<void>;
  /** Sends an archive, and resolves to the answer's JSON. Rejects like `call`. */
  upload(path: string, from: Readable): Promise<unknown>;
}

/** The service is away, or has too much to do: the same call may succeed later. */
export class Unavailable extends CliError {
  /** False if nothing answered. */
  readonly hasAnswered: boolean;
  /** As the answer says it. */
  readonly retryAfterSeconds: number | null;

  constructor(message: string, hasAnswered: boolean, retryAfterSeconds: number | null, cause?: unknown) {
    super(message, { cause });
    this.hasAnswered = hasAnswered;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The service refused a request. */
export class RefusedCall extends CliError {
  readonly detail: string;
  /** The wrong fields of the request. */
  readonly errors: readonly { readonly field: string; readonly message: string }[];

  constructor({ detail, errors }: z.infer<typeof Problem>) {
    super([detail, ...errors.map(({ field, message }) => `${field}: ${message}`)].join(' '));
    this.detail = detail;
    this.errors = errors;
  }
}

export type ClientConfig = Pick<Config, 'managementListener' | 'managementJwtSecret' | 'dataDir' | 'store'>;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

const Problem = z.object({
  detail: z.string(),
  errors: z.array(z.object({ field: z.string(), message: z.string() })).default([]),
});

export function managementClient(config: ClientConfig, clock: Clock): ManagementClient {
  const { port } = config.managementListener;
  const host = reachable(config.managementListener.host);
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const client: ManagementClient = {
    call: (method, path, body) =>
      client.callWith(method, path, body === undefined ? undefined : JSON.stringify(body)),
    async callWith(method, path, text, limitMs = 0) {
      const token = await signManagementToken(secretOf(config, address), clock);
      const answer = await send({ host, port, method, path, token, text, limitMs }).catch(
        (error: unknown) => {
          throw notAnswering(address, error);
        },
      );
      return read(answer, address);
    },
    async download(path, to) {
      const token = await signManagementToken(secretOf(config, address), clock);
      const answer = await fetched({ host, port, path, token }).catch((error: unknown) => {
        throw notAnswering(address, error);
      });
      if (answer.statusCode === 200) {
        await pipeline(answer, to).catch((error: unknown) => {
          throw new CliError('The archive ended too early: it is not whole. Export the app again.', {
            cause: error,
          });
        });
      } else read(await whole(answer), address);
    },
    async upload(path, from) {
      const token = await signManagementToken(secretOf(config, address), clock);
      const answer = await sent({ host, port, path, token }, from).catch((error: unknown) => {
        throw notAnswering(address, error);
      });
      return read(answer, address);
    },
  };
  return client;
}

/** Maps an address of all interfaces to the loopback address. */
const reachable = (host: string): string => ({ '0.0.0.0': '127.0.0.1', '::': '::1' })[host] ?? host;

function secretOf(config: ClientConfig, address: string): string {
  const secret = config.managementJwtSecret ?? readManagementSecret(config.dataDir);
  if (secret !== null) return secret;
  throw new CliError(
    `There is no ${managementSecretFile(config.dataDir)}: start the service first (session-analytics serve, or npm start), or set DATA_DIR or ` +
      `MANAGEMENT_JWT_SECRET to those of the service at ${address}.`,
  );
}

interface Call {
  readonly host: string;
  readonly port: number;
  readonly method: ManagementMethod;
  readonly path: string;
  readonly token: string;
  readonly text: string | undefined;
  /** 0: none. Deleting an app with much data may take long. */
  readonly limitMs: number;
}

function send({ host, port, method, path, token, text, limitMs }: Call): Promise<Answer> {
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(text === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
  };
  return new Promise((resolve, reject) => {
    const call = request(
      { host, port, method, path: `/management/v1${path}`, headers, agent: false },
      (answer) => void whole(answer).then(resolve, reject),
    );
    call.on('error', reject);
    call.setTimeout(limitMs, () =>
      call.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })),
    );
    call.end(text);
  });
}

type Transfer = Pick<Call, 'host' | 'port' | 'path' | 'token'>;

/** Asks for an archive. Resolves when the answer begins. */
function fetched({ host, port, path, token }: Transfer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}` };
    const call = request({ host, port, path: `/management/v1${path}`, headers, agent: false }, resolve);
    call.on('error', reject);
    call.end();
  });
}

/** Sends an archive once the service asks for it. Resolves when the answer has ended. */
function sent({ host, port, path, token }: Transfer, from: Readable): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/x-tar',
      Expect: '100-continue',
    };
    const call = request(
      { host, port, method: 'POST', path: `/management/v1${path}`, headers, agent: false },
      (answer) => void whole(answer).then(resolve, reject),
    );
    call.on('error', reject);
    from.on('error', (error) => call.destroy(error));
    call.once('continue', () => from.pipe(call));
  });
}

async function whole(answer: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const { statusCode: status = 0, headers } = answer;
  return { status, retryAfter: headers['retry-after'], text: Buffer.concat(chunks).toString('utf8') };
}

const notAnswering = (address: string, error: unknown): CliError => {
  const code = codeOf(error) === undefined ? '' : ` (${codeOf(error)})`;
  const message =
    `The service does not answer at ${address}${code}: start it with session-analytics serve or npm start, or set MANAGEMENT_HOST and ` +
    'MANAGEMENT_PORT to where it listens.';
  return new Unavailable(message, false, null, error);
};

/** Also those of a proxy in front. */
const LATER: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

function read({ status, retryAfter, text }: Answer, address: string): unknown {
  const json = parseJson(text);
  if (status >= 200 && status < 300 && json !== undefined) return json;
  if (status === 401) {
    throw new CliError(
      `The service at ${address} refused the token: use the same DATA_DIR or MANAGEMENT_JWT_SECRET as the service.`,
    );
  }
  const problem = Problem.safeParse(json);
  if (LATER.has(status)) {
    const said = problem.success ? problem.data.detail : 'No reason is given.';
    const seconds = /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : null;
    throw new Unavailable(
      `The service at ${address} is not ready (status ${status}): ${said}`,
      true,
      seconds,
    );
  }
  if (!problem.success) {
    throw new CliError(
      `The server at ${address} is not this service (status ${status}): check MANAGEMENT_HOST and MANAGEMENT_PORT.`,
    );
  }
  throw new RefusedCall(problem.data);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
