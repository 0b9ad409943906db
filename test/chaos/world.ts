import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../../src/remove-folder.ts';
import { bridgeProcess } from '../support/bridge-process.ts';
import { localRedis } from '../support/redis.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';

export type StoreKind = 'embedded' | 'bridge';

/** Everything around the processes of a service that can fail. */
export interface World {
  readonly processes: readonly Process[];
  /** Absent if a process is alone. */
  readonly redis?: { flush(): Promise<void>; kill(): Promise<void>; start(): Promise<void> };
  readonly store?: { hang(): void; resume(): void };
  close(): Promise<void>;
}

const SETTINGS = {
  PUBLIC_API_REQUESTS_PER_MINUTE: '1000000',
  SEAL_INTERVAL_SECONDS: '1',
  // A story must run again on a later day.
  EVENT_MAX_AGE_DAYS: '36500',
  MANAGEMENT_JWT_SECRET: 'a management secret of more than 32 characters',
};

/** Makes a world; no process runs yet. */
export async function createWorld(kind: StoreKind): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'analytics-chaos-'));
  const removed = (): void => removeFolder(folder);
  if (kind === 'embedded') {
    const process = new Process('one', { ...SETTINGS, DATA_DIR: folder });
    return {
      processes: [process],
      close: async () => {
        await process.kill();
        removed();
      },
    };
  }
  const [bridge, redis] = await Promise.all([bridgeProcess(), localRedis()]);
  const settings = {
    ...SETTINGS,
    CLICKHOUSE_URL: bridge.url,
    CLICKHOUSE_USER: bridge.username,
    CLICKHOUSE_PASSWORD: bridge.password,
    REDIS_URL: redis.url,
    PUBLIC_API_REPLICAS: '2',
  };
  const processes = ['one', 'two'].map(
    (name) => new Process(name, { ...settings, DATA_DIR: join(folder, name) }),
  );
  return {
    processes,
    redis,
    store: bridge,
    close: async () => {
      await Promise.all(processes.map((process) => process.kill()));
      await Promise.all([bridge.close(), redis.close()]);
      removed();
    },
  };
}

/** A process of the service, across its restarts. */
export class Process {
  readonly name: string;
  readonly #settings: Readonly<Record<string, string>>;
  #life: ServiceProcess | null = null;
  #isHung = false;
  /** The output of earlier lives. */
  #printed = '';

  constructor(name: string, settings: Readonly<Record<string, string>>) {
    this.name = name;
    this.#settings = settings;
  }

  /** Null while it is dead. */
  get life(): ServiceProcess | null {
    return this.#life;
  }

  /** True if a question has a chance of an answer. */
  get isUp(): boolean {
    return this.#life !== null && !this.#isHung;
  }

  get isHung(): boolean {
    return this.#isHung;
  }

  get output(): string {
    return this.#printed + (this.#life?.output() ?? '');
  }

  async start(
    settings: Readonly<Record<string, string>>,
    onDeath: (code: number | null) => void,
  ): Promise<void> {
    const life = await serviceProcess({ ...this.#settings, ...settings });
    this.#life = life;
    void life.ended.then((code) => {
      if (this.#life === life) onDeath(code);
    });
  }

  /** Sends SIGTERM and returns the exit code. */
  async stop(): Promise<number | null> {
    const life = this.#leave();
    return life === null ? 0 : life.stop();
  }

  async kill(): Promise<void> {
    await this.#leave()?.kill();
  }

  hang(): void {
    this.#life?.hang();
    this.#isHung = true;
  }

  resume(): void {
    this.#life?.resume();
    this.#isHung = false;
  }

  /** From here on the end of the process is expected. */
  #leave(): ServiceProcess | null {
    const life = this.#life;
    this.#printed += life?.output() ?? '';
    this.#life = null;
    this.#isHung = false;
    return life;
  }
}
