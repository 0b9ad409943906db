import { execFile, spawn } from 'node:child_process';
import { constants } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { removeFolder } from '../../src/remove-folder.ts';
import { endTogether } from '../support/end-together.ts';
import { freePort } from '../support/redis.ts';
import type { Site } from './servers.ts';

/** Where nginx keeps what does not fit in its memory. */
const OWN_FOLDERS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** A program of Debian. `config`: lines of its configuration in a site of one page, at every path. */
interface Program {
  readonly file: string;
  readonly package: string;
  readonly config: (lines: string, port: number, folder: string) => string;
  readonly arguments: (folder: string, config: string) => readonly string[];
}

const PROXIES = {
  nginx: {
    file: '/usr/sbin/nginx',
    package: 'nginx-light',
    // One process, which ends with the test.
    config: (lines, port, folder) => `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  default_type text/html;
${OWN_FOLDERS.map((name) => `  ${name}_temp_path ${name};`).join('\n')}
  server {
    listen 127.0.0.1:${port};
    root ${folder}/site;
    location / { try_files /index.html =404; }
${lines}
  }
}`,
    arguments: (folder, config) => ['-e', 'stderr', '-p', folder, '-c', config],
  },
  caddy: {
    file: '/usr/bin/caddy',
    package: 'caddy',
    config: (lines, port, folder) => `
{
  admin off
}
http://:${port} {
  bind 127.0.0.1
${lines}
  handle {
    root * ${folder}/site
    rewrite * /index.html
    file_server
  }
}`,
    arguments: (_folder, config) => ['run', '--adapter', 'caddyfile', '--config', config],
  },
} as const satisfies Readonly<Record<string, Program>>;

export interface Proxy {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts the server of a site with `lines` in its configuration. It trusts what `certificate` has signed. */
export async function startProxy(
  name: keyof typeof PROXIES,
  lines: string,
  html: string,
  certificate: string,
): Promise<Proxy> {
  const program: Program = PROXIES[name];
  if (!existsSync(program.file))
    throw new Error(`${program.file} is missing: apt-get install ${program.package}`);
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  const write = (file: string, text: string): string => {
    writeFileSync(join(folder, file), text);
    return join(folder, file);
  };
  mkdirSync(join(folder, 'site'));
  write('site/index.html', html);
  const port = await freePort();
  const config = write('config', program.config(lines, port, folder));
  const child = spawn(program.file, program.arguments(folder, config), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      HOME: folder,
      XDG_CONFIG_HOME: folder,
      XDG_DATA_HOME: folder,
      SSL_CERT_FILE: write('trusted.pem', certificate),
    },
  });
  const leave = endTogether(child);
  const exited = once(child, 'exit');
  let said = '';
  child.stderr?.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
    leave();
    removeFolder(folder);
  };
  while (child.exitCode === null) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (answer?.status === 200 && (await answer.text()) === html) return { port, close };
    await sleep(50);
  }
  await close();
  throw new Error(`${name} ended:\n${said}`);
}

/** What came to the service's own server. */
export interface Passed {
  /** The name that was asked for when the connection was made, and that of the request. */
  readonly names: readonly [unknown, string | undefined];
  readonly path: string | undefined;
  readonly cookie: string | undefined;
}

export interface Front extends Site {
  readonly certificate: string;
  readonly passed: readonly Passed[];
}

/** The service's own server: it takes HTTPS, appends the caller's address as servers do, and passes requests on. */
export async function frontOf(service: string): Promise<Front> {
  const { key, certificate } = await newCertificate();
  const passed: Passed[] = [];
  // Each connection says its name: one that resumes an earlier one may not.
  const secureOptions = constants.SSL_OP_NO_TICKET;
  const server = createSecureServer({ key, cert: certificate, secureOptions }, (req, res) => {
    const { method, headers, url: path, socket } = req;
    passed.push({
      names: [(socket as TLSSocket).servername, headers.host],
      path,
      cookie: headers.cookie,
    });
    const addresses = [headers['x-forwarded-for'], socket.remoteAddress].flat().filter(Boolean).join(', ');
    const target = new URL(path ?? '', service);
    const onwards = request(target, { method, headers: { ...headers, 'x-forwarded-for': addresses } });
    onwards.on('response', (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    req.pipe(onwards);
  });
  const port = await listening(server);
  return {
    origin: `https://localhost:${port}`,
    certificate,
    passed,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function newCertificate(): Promise<{ readonly key: string; readonly certificate: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const of = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
  try {
    await promisify(execFile)('openssl', [
      'req',
      '-x509',
      ...made,
      ...of,
      '-keyout',
      key,
      '-out',
      certificate,
    ]);
    return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') };
  } finally {
    removeFolder(folder);
  }
}

/** Another way to a port of this machine. Who comes by it has the address `from`. */
export async function wayFrom(from: string, port: number): Promise<Site> {
  const open = new Set<{ destroy(): void }>();
  const server = createServer((visitor) => {
    const onwards = connect({ host: '127.0.0.1', port, localAddress: from });
    for (const [one, other] of [
      [visitor, onwards],
      [onwards, visitor],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => open.delete(one));
      one.pipe(other);
    }
  });
  return {
    origin: `http://shop.test:${await listening(server)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
