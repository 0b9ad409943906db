import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const FIREFOX = '/usr/bin/firefox-esr';

/** Debian's Firefox, driven by Marionette, its own protocol: JSON with its length in front, over a socket. */
export interface Firefox {
  goto(url: string): Promise<void>;
  /** Runs the body of a function in the page, and returns its value. */
  run(script: string): Promise<unknown>;
  /** Clicks as a person does. */
  click(selector: string): Promise<void>;
  back(): Promise<void>;
  close(): Promise<void>;
}

type Message = readonly [type: number, id: number, error: { message?: string } | null, value: unknown];

/** `*.test` resolves to this machine. No page of the browser's own is loaded, and nothing beyond the machine. */
const PREFERENCES = {
  'marionette.port': 0,
  'network.dns.localDomains': 'shop.test,stats.test,elsewhere.test',
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'app.update.disabledForTesting': true,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
  'services.settings.server': 'data:,',
};

async function eventually<T>(what: string, look: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await look();
    } catch (error) {
      if (tries === 600) throw new Error(`${what}: ${String(error)}`);
      await sleep(100);
    }
  }
}

/** Sends commands one after another. */
function commandsOver(socket: Socket) {
  const waiting = new Map<number, (message: Message) => void>();
  let text = Buffer.alloc(0);
  let last = 0;
  socket.on('data', (bytes: Buffer) => {
    text = Buffer.concat([text, bytes]);
    for (;;) {
      const colon = text.indexOf(':');
      const length = Number(text.subarray(0, Math.max(colon, 0)).toString());
      if (colon < 0 || text.length < colon + 1 + length) return;
      const message = JSON.parse(text.subarray(colon + 1, colon + 1 + length).toString());
      text = text.subarray(colon + 1 + length);
      // The first one is a greeting.
      if (Array.isArray(message)) waiting.get(message[1])?.(message as unknown as Message);
    }
  });
  return (name: string, parameters: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, ([, , error, value]) => {
        waiting.delete(id);
        if (error) reject(new Error(`${name}: ${error.message ?? ''}`));
        else resolve(value);
      });
      const command = JSON.stringify([0, id, name, parameters]);
      socket.write(`${Buffer.byteLength(command)}:${command}`);
    });
}

async function ended(browser: ChildProcess): Promise<void> {
  if (browser.exitCode !== null || browser.signalCode !== null) return;
  const exit = new Promise((resolve) => browser.once('exit', resolve));
  browser.kill('SIGKILL');
  await exit;
}

/** Starts Firefox with a profile of its own. */
export async function openFirefox(): Promise<Firefox> {
  if (!existsSync(FIREFOX)) throw new Error(`${FIREFOX} is missing: apt-get install firefox-esr`);
  const folder = await mkdtemp(join(tmpdir(), 'firefox-'));
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
  );
  await writeFile(join(folder, 'user.js'), lines.join(''));
  const browser = spawn(FIREFOX, ['--headless', '--marionette', '--no-remote', '--profile', folder], {
    stdio: 'ignore',
    env: { ...process.env, HOME: folder },
  });
  const port = await eventually('Firefox does not start', async () => {
    const found = Number(await readFile(join(folder, 'MarionetteActivePort'), 'utf8'));
    if (!(found > 0)) throw new Error('no port yet');
    return found;
  });
  const socket = connect(port, '127.0.0.1');
  const command = commandsOver(socket);
  await command('WebDriver:NewSession', { pageLoadStrategy: 'normal' });
  return {
    goto: async (url) => void (await command('WebDriver:Navigate', { url })),
    run: async (script) => {
      const answer = await command('WebDriver:ExecuteScript', { script, args: [], sandbox: null });
      return (answer as { value: unknown }).value;
    },
    click: async (selector) => {
      const answer = await command('WebDriver:FindElement', { using: 'css selector', value: selector });
      const [id] = Object.values((answer as { value: Record<string, string> }).value);
      await command('WebDriver:ElementClick', { id });
    },
    back: async () => void (await command('WebDriver:Back')),
    close: async () => {
      socket.destroy();
      await ended(browser);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
