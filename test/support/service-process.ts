import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { type Admin, adminOf } from './admin.ts';
import { endTogether } from './end-together.ts';
import { program, ROOT } from './program.ts';

/** The service as started by `npm start`, in its own process. */
export interface ServiceProcess {
  readonly url: string;
  readonly managementUrl: string;
  readonly pid: number;
  /** Resolves when it has ended, to its exit code; null if a signal ended it. */
  readonly ended: Promise<number | null>;
  /** The `admin` command on it: `admin('account', 'create', '--name', 'Acme')`. */
  readonly admin: Admin;
  /** Its whole output. */
  output(): string;
  /** Sends SIGTERM and returns the exit code; null if a signal ended it. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
  /** SIGSTOP: the process exists and does nothing. */
  hang(): void;
  /** SIGCONT. */
  resume(): void;
}

const Listening = z.object({ msg: z.literal('listening'), url: z.string(), managementUrl: z.string() });

/** Resolves when it listens, on free ports unless `settings` name others. Rejects with its output. */
export async function serviceProcess(settings: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const env = { PORT: '0', MANAGEMENT_PORT: '0', LOG_LEVEL: 'info', ...settings };
  const child = spawn(await program(), ['serve'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...env },
    // In a session of its own. Linux shares the processor among sessions, and the engine's threads, which have a lower
    // priority, get hardly any of it beside the tests in the same session.
    detached: true,
  });
  const leave = endTogether(child);
  const exited = once(child, 'exit').then(([code]): number | null => {
    leave();
    return typeof code === 'number' ? code : null;
  });
  const printed: string[] = [];
  child.stderr.on('data', (text: Buffer) => printed.push(text.toString()));
  const { url, managementUrl } = await listening(child, printed);
  return {
    url,
    managementUrl,
    pid: child.pid ?? 0,
    ended: exited,
    admin: adminOf({ ...env, MANAGEMENT_PORT: new URL(managementUrl).port }),
    output: () => printed.join(''),
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
    hang: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
}

function listening(child: ChildProcess, printed: string[]): Promise<z.infer<typeof Listening>> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new Error('no output to read');
    createInterface({ input: child.stdout }).on('line', (line) => {
      printed.push(`${line}\n`);
      const parsed = Listening.safeParse(parseJson(line));
      if (parsed.success) resolve(parsed.data);
    });
    child.once('close', () => reject(new Error(`the service ended:\n${printed.join('')}`)));
  });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
