import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Session } from 'chdb';
import { unchecked } from '../../src/clickhouse/sql.ts';
import { MOST_TEXT_BYTES, withValues } from '../../src/clickhouse/values.ts';
import { type BridgeCluster, CLUSTER_SETTINGS, clusterConfig, sessionSettings } from './bridge-cluster.ts';
import { readParams } from './bridge-params.ts';

/** The embedded engine behind ClickHouse's HTTP interface, for tests without a server. */
export interface Bridge {
  readonly url: string;
  close(): Promise<void>;
}

export interface BridgeOptions {
  readonly dataDir: string;
  readonly host?: string;
  readonly port?: number;
  readonly username?: string;
  readonly password?: string;
  /** Two shards that are both this engine. */
  readonly cluster?: BridgeCluster;
  /** The most statements that run at once; others wait. UV_THREADPOOL_SIZE must be greater. */
  readonly connections?: number;
}

/** Allows backups, as a server's configuration has to. */
const ENGINE_CONFIG = fileURLToPath(new URL('../../clickhouse/engine.xml', import.meta.url));
/** Query parameters that are no settings. */
const PROTOCOL = new Set(['query', 'query_id', 'database', 'default_format', 'user', 'password']);
/**
 * Settings of the HTTP layer that the client always sends, and the comment of a statement. They change no answer,
 * because answers are buffered whole.
 */
const HTTP_SETTINGS = new Set([
  'wait_end_of_query',
  'enable_http_compression',
  'send_progress_in_http_headers',
  'log_comment',
  'max_query_size',
]);
/** As the server maps them; any other code is a 500. */
const STATUS_BY_CODE: Readonly<Record<number, number>> = {
  6: 400, // CANNOT_PARSE_TEXT
  27: 400, // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  36: 400, // BAD_ARGUMENTS
  38: 400, // CANNOT_PARSE_DATE
  41: 400, // CANNOT_PARSE_DATETIME
  43: 400, // ILLEGAL_TYPE_OF_ARGUMENT
  46: 404, // UNKNOWN_FUNCTION
  47: 404, // UNKNOWN_IDENTIFIER
  48: 501, // NOT_IMPLEMENTED
  53: 400, // TYPE_MISMATCH
  60: 404, // UNKNOWN_TABLE
  62: 400, // SYNTAX_ERROR
  72: 400, // CANNOT_PARSE_NUMBER
  81: 404, // UNKNOWN_DATABASE
  115: 404, // UNKNOWN_SETTING
  117: 400, // INCORRECT_DATA
  159: 408, // TIMEOUT_EXCEEDED
  456: 400, // UNKNOWN_QUERY_PARAMETER
  516: 403, // AUTHENTICATION_FAILED
};

interface Request {
  readonly sql: string;
  readonly params: Record<string, unknown>;
  readonly database: string;
  readonly format: string;
}

/**
 * Listens on `host` (127.0.0.1) and `port` (any free one). No other process may use the folder until `close`.
 */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const engine = new Engine(options.dataDir, options.connections ?? 8, options.cluster);
  const server = createServer((request, response) => {
    answer(engine, options, request, response).catch((error: unknown) => sendError(response, error));
  });
  // ClickHouse's default. The client closes idle sockets earlier.
  server.keepAliveTimeout = 10_000;
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await engine.close();
    },
  };
}

async function answer(
  engine: Engine,
  options: BridgeOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://bridge');
  if (url.pathname === '/ping') {
    response.end('Ok.\n');
    return;
  }
  const body = await readBody(request);
  authenticate(options, request, url.searchParams);
  const form = formOf(request.headers['content-type'] ?? '', body);
  // A copy: every change to the URL's own parameters rewrites the whole URL.
  const search = new URLSearchParams([...url.searchParams, ...(form ?? [])]);
  const parsed = parseRequest(search, form === null ? body : '', options.cluster !== undefined);
  const result = await engine.run(parsed);
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  response.setHeader('X-ClickHouse-Query-Id', url.searchParams.get('query_id') ?? randomUUID());
  response.setHeader('X-ClickHouse-Summary', summary(result));
  response.end(result.bytes);
}

function parseRequest(search: URLSearchParams, body: string, isOfCluster: boolean): Request {
  for (const key of search.keys()) {
    if (PROTOCOL.has(key) || HTTP_SETTINGS.has(key) || key.startsWith('param_')) continue;
    if (isOfCluster && CLUSTER_SETTINGS.has(key)) continue;
    // From outside the statement the engine takes a setting only as a SET, which stays with the connection.
    throw new Error(
      `Code: 115. DB::Exception: Setting ${key} must stand in the statement. (UNKNOWN_SETTING)`,
    );
  }
  const query = search.get('query');
  const sql = query === null ? body : body === '' ? query : `${query}\n${body}`;
  return {
    sql,
    params: readParams(query ?? body, search),
    database: search.get('database') ?? 'default',
    format: search.get('default_format') ?? 'TabSeparated',
  };
}

/** Accepts credentials in headers, by basic authentication or in the URL, like the server. */
function authenticate(options: BridgeOptions, request: IncomingMessage, search: URLSearchParams): void {
  const [scheme, encoded] = (request.headers.authorization ?? '').split(' ');
  const [basicUser, ...basicPassword] =
    scheme === 'Basic'
      ? Buffer.from(encoded ?? '', 'base64')
          .toString()
          .split(':')
      : [];
  const header = (name: string) => request.headers[name]?.toString();
  const user = header('x-clickhouse-user') ?? basicUser ?? search.get('user') ?? 'default';
  const password =
    header('x-clickhouse-key') ?? (basicUser && basicPassword.join(':')) ?? search.get('password') ?? '';
  if (user !== (options.username ?? 'default') || password !== (options.password ?? '')) {
    throw new Error(
      `Code: 516. DB::Exception: ${user}: Authentication failed: password is incorrect, ` +
        'or there is no user with such name. (AUTHENTICATION_FAILED)',
    );
  }
}

/** Returns the fields of a multipart form, which replace parameters of the URL; null for any other body. */
function formOf(type: string, body: string): [string, string][] | null {
  const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(type)?.[1];
  if (boundary === undefined) return null;
  return body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const end = part.indexOf('\r\n\r\n');
      return [/name="([^"]*)"/.exec(part.slice(0, end))?.[1] ?? '', part.slice(end + 4, -2)];
    });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function sendError(response: ServerResponse, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const code = Number(/Code: (\d+)/.exec(message)?.[1] ?? 1002);
  const text = message.startsWith('Code:')
    ? message
    : `Code: ${code}. DB::Exception: ${message} (UNKNOWN_EXCEPTION)`;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.statusCode = STATUS_BY_CODE[code] ?? 500;
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  response.setHeader('X-ClickHouse-Exception-Code', String(code));
  response.end(`${text} (version 26.7.2.1)\n`);
}

interface Result {
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly elapsed: number;
}

const summary = (result: Result): string =>
  JSON.stringify({
    read_rows: String(result.rows),
    read_bytes: '0',
    written_rows: '0',
    written_bytes: '0',
    total_rows_to_read: '0',
    result_rows: String(result.rows),
    result_bytes: String(result.bytes.byteLength),
    elapsed_ns: String(Math.round(result.elapsed * 1e9)),
  });

interface Connection {
  readonly session: Session;
  database: string;
}

/** A pool of connections to one folder. A connection runs one statement at a time. */
class Engine {
  readonly #all: Connection[];
  readonly #idle: Connection[];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  readonly #cluster: BridgeCluster | undefined;

  constructor(dataDir: string, connections: number, cluster: BridgeCluster | undefined) {
    this.#cluster = cluster;
    const config = cluster === undefined ? ENGINE_CONFIG : clusterConfig(dataDir, cluster);
    this.#all = Array.from({ length: connections }, () => ({
      session: new Session(dataDir, { connectionArgs: [`--config-file=${config}`] }),
      database: 'default',
    }));
    for (const { session } of this.#all) session.query(`SET max_query_size = ${MOST_TEXT_BYTES}`);
    this.#idle = [...this.#all];
  }

  async run({ sql, params, database, format }: Request): Promise<Result> {
    const connection =
      this.#idle.pop() ?? (await new Promise<Connection>((give) => this.#waiting.push(give)));
    try {
      if (connection.database !== database) {
        await connection.session.queryAsync(`USE \`${database.replaceAll('`', '')}\``);
        if (this.#cluster) await connection.session.queryAsync(sessionSettings(database));
        connection.database = database;
      }
      const { session } = connection;
      const result = await session.queryAsync(withValues(unchecked(sql), params), { format });
      return { bytes: result.bytes(), rows: result.rowsRead, elapsed: result.elapsed };
    } catch (error) {
      // The engine puts its output from before the error in front of the next answer. This statement takes it
      // away.
      await connection.session.queryAsync('SELECT 1', { format: 'Null' }).catch(() => undefined);
      throw error;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(connection);
      else next(connection);
    }
  }

  async close(): Promise<void> {
    for (const { session } of this.#all) session.close();
  }
}
