import { setTimeout as sleep } from 'node:timers/promises';
import type { Dice } from './dice.ts';
import type { History } from './history.ts';
import { insist } from './sites.ts';
import type { Process, World } from './world.ts';

const START_ATTEMPTS = 20;

/** Faults and operations while the service works. */
export class Mischief {
  readonly #world: World;
  readonly #history: History;
  /** The step at which each process comes back. */
  readonly #returns = new Map<Process, number>();

  constructor(world: World, history: History) {
    this.#world = world;
    this.#history = history;
  }

  async startAll(dice: Dice): Promise<void> {
    await Promise.all(this.#world.processes.map((process) => this.#start(process, dice)));
  }

  /** Brings back the processes that are due. */
  async bringBack(step: number, dice: Dice): Promise<void> {
    for (const [process, due] of this.#returns) {
      if (due > step) continue;
      this.#returns.delete(process);
      if (process.isHung) this.#resume(process);
      else if (process.life === null) await this.#start(process, dice);
    }
  }

  /** Does one of them, while others send and ask. `apps` may be named for a rebuild. */
  async happen(step: number, dice: Dice, apps: readonly string[]): Promise<void> {
    const up = this.#world.processes.filter(({ isUp }) => isUp);
    const process = dice.one(up);
    const [isAlone, forLong] = [up.length === 1, step + 1 + dice.whole(8)];
    const work = dice.weighted<() => Promise<void>>([
      [5, async () => undefined],
      [
        4,
        () =>
          this.#kill(
            process,
            dice,
            isAlone
              ? null
              : dice.weighted([
                  [2, null],
                  [1, forLong],
                ]),
          ),
      ],
      [2, () => this.#restart(process, dice)],
      [3, () => this.#pause(process, 20 + dice.whole(1_500))],
      [isAlone ? 0 : 3, () => this.#hang(process, forLong)],
      [3, () => this.#rebuild(dice.chance(0.5) ? dice.one(apps) : null)],
      ...this.#around(dice),
    ]);
    await sleep(dice.whole(250));
    await work();
  }

  #around(dice: Dice): (readonly [number, () => Promise<void>])[] {
    const { redis, store } = this.#world;
    const { counts } = this.#history;
    return [
      [
        redis === undefined ? 0 : 2,
        async () => {
          this.#history.happened('redis: FLUSHALL');
          counts.redisFlushes += 1;
          await redis?.flush();
        },
      ],
      [
        redis === undefined ? 0 : 2,
        async () => {
          this.#history.happened('redis: SIGKILL');
          counts.redisRestarts += 1;
          await redis?.kill();
          await sleep(dice.whole(1_200));
          await redis?.start();
          this.#history.happened('redis: started');
        },
      ],
      [
        store === undefined ? 0 : 1,
        async () => {
          this.#history.happened('store: SIGSTOP');
          counts.storePauses += 1;
          store?.hang();
          await sleep(dice.whole(1_500));
          store?.resume();
          this.#history.happened('store: SIGCONT');
        },
      ],
    ];
  }

  async #kill(process: Process, dice: Dice, until: number | null): Promise<void> {
    this.#history.happened(`${process.name}: SIGKILL${until === null ? '' : ` until step ${until}`}`);
    this.#history.counts.kills += 1;
    await process.kill();
    if (until === null) await this.#start(process, dice);
    else this.#returns.set(process, until);
  }

  async #restart(process: Process, dice: Dice): Promise<void> {
    this.#history.happened(`${process.name}: SIGTERM`);
    this.#history.counts.restarts += 1;
    const code = await process.stop();
    if (code !== 0)
      this.#history.wrong(`${process.name} ended with ${code} after SIGTERM`, [process.output.slice(-2_000)]);
    await this.#start(process, dice);
  }

  async #pause(process: Process, ms: number): Promise<void> {
    this.#history.happened(`${process.name}: SIGSTOP for ${ms} ms`);
    this.#history.counts.pauses += 1;
    process.hang();
    await sleep(ms);
    this.#resume(process);
  }

  async #hang(process: Process, until: number): Promise<void> {
    this.#history.happened(`${process.name}: SIGSTOP until step ${until}`);
    this.#history.counts.pauses += 1;
    process.hang();
    this.#returns.set(process, until);
  }

  #resume(process: Process): void {
    process.resume();
    this.#history.happened(`${process.name}: SIGCONT`);
  }

  async #rebuild(app: string | null): Promise<void> {
    this.#history.happened(`seal rebuild ${app ?? 'of all apps'}`);
    this.#history.counts.rebuilds += 1;
    await insist(this.#world, 'seal rebuild', async ({ life }) =>
      life?.admin('seal', 'rebuild', ...(app === null ? [] : ['--app', app])),
    );
  }

  async #start(process: Process, dice: Dice): Promise<void> {
    const settings = dice.one([
      { FACTS_CACHE_MIB: '0' },
      { FACTS_CACHE_MIB: '1', ANSWER_CACHE_MIB: '1' },
      {} as Readonly<Record<string, string>>,
    ]);
    for (let attempt = 1; ; attempt++) {
      try {
        await process.start(settings, (code) =>
          this.#history.wrong(`${process.name} ended by itself with ${code}`, [process.output.slice(-2_000)]),
        );
        this.#history.happened(`${process.name}: started with ${JSON.stringify(settings)}`);
        return;
      } catch (error) {
        // A start needs Redis, which may be away at the moment.
        if (attempt === START_ATTEMPTS) throw error;
        await sleep(250);
      }
    }
  }
}
