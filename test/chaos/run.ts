import { setTimeout as sleep } from 'node:timers/promises';
import { Asker, type Tags } from './asker.ts';
import { createDice, type Dice } from './dice.ts';
import { History } from './history.ts';
import { Mischief } from './mischief.ts';
import { Sender } from './sender.ts';
import { askAboutMore, deleteSite, newKey, newSite, type Site } from './sites.ts';
import type { Batch } from './traffic.ts';
import { createWorld, type Process, type StoreKind, type World } from './world.ts';

export interface ChaosOptions {
  readonly store: StoreKind;
  readonly seed: number;
  /** Epoch ms; no event is later. */
  readonly latest: number;
  /** Called before each step. */
  readonly goesOn: (step: number) => boolean;
  readonly print: (text: string) => void;
}

const APPS = 3;
/** The oracle walks over all events for each figure, so an app with more visits is deleted and replaced. */
const MOST_VISITS = 160;
const POLLERS = 3;
const AT_ONCE = 4;
const REFUSED_MS = 100;
/** In a step that waits for long, a poller rests after this many questions. */
const EAGER = 60;
const REST_MS = 250;
/** Attempts per question while nothing disturbs it. */
const ATTEMPTS = 600;

/**
 * Runs the steps of a story that follows from its seed. Each step builds on the data of those before; see
 * docs/testing.md.
 */
export async function chaos(options: ChaosOptions): Promise<History> {
  const { store, seed, latest, print } = options;
  const replay = (): string =>
    `npm run test:chaos -- --store ${store} --seed ${seed} --latest ${new Date(latest).toISOString()} --steps ${history.step}`;
  const history: History = new History(replay, print);
  const world = await createWorld(store);
  try {
    await new Story(options, world, history).tell();
  } finally {
    await world.close();
    const stretches = world.processes.map(({ output }) => output.split('"msg":"sealed"').length - 1);
    history.counts.sealed = stretches.reduce((sum, count) => sum + count, 0);
  }
  return history;
}

class Story {
  readonly #options: ChaosOptions;
  readonly #world: World;
  readonly #history: History;
  readonly #sender: Sender;
  readonly #mischief: Mischief;
  #asker!: Asker;
  #key = '';
  #sites: readonly Site[] = [];
  /** Some acknowledged batches, to be sent again. */
  #old: { readonly site: Site; readonly batch: Batch }[] = [];

  constructor(options: ChaosOptions, world: World, history: History) {
    this.#options = options;
    this.#world = world;
    this.#history = history;
    this.#sender = new Sender(world, history);
    this.#mischief = new Mischief(world, history);
  }

  async tell(): Promise<void> {
    const { seed, goesOn } = this.#options;
    await this.#mischief.startAll(createDice(seed));
    this.#key = await newKey(this.#world);
    this.#asker = new Asker(this.#history, this.#key);
    for (let step = 1; goesOn(step); step++) {
      const dice = createDice(seed * 100_003 + step);
      this.#history.step = step;
      this.#history.happened(`step ${step}`);
      await this.#mischief.bringBack(step, dice.another());
      await this.#renew(dice.another());
      await this.#move(step, dice.another());
      await this.#lookAround(dice.another());
      this.#history.counts.steps = step;
    }
  }

  /** Deletes the apps that are too large, sometimes another one, and creates new ones. */
  async #renew(dice: Dice): Promise<void> {
    const own = this.#sites.filter(({ isSpoiled }) => !isSpoiled);
    const unlucky = dice.chance(0.08) ? dice.whole(APPS) : -1;
    const gone = own.filter((site, i) => i === unlucky || site.traffic.visits > MOST_VISITS);
    for (const site of gone) await deleteSite(this.#world, site, this.#asker, this.#history);
    const rest = own.filter((site) => !gone.includes(site));
    while (rest.length < APPS) {
      rest.push(await newSite(this.#world, this.#key, dice.another(), this.#options.latest));
    }
    this.#sites = rest;
    this.#old = this.#old.filter(({ site }) => rest.includes(site));
  }

  /** Sends batches, some of them twice at once, while pollers ask and a fault happens. */
  async #move(step: number, dice: Dice): Promise<void> {
    const { processes } = this.#world;
    const fresh = Array.from({ length: 2 + dice.whole(10) }, () => {
      const site = dice.one(this.#sites);
      return { site, batch: site.traffic.batch() };
    });
    const again = this.#old.filter(() => dice.chance(0.1)).slice(0, 3);
    const counts = this.#history.counts;
    counts.batches += fresh.length;
    counts.events += fresh.reduce((sum, { batch }) => sum + batch.events, 0);
    counts.repeats += again.length;
    const sending = [...fresh, ...again, ...fresh.filter(() => dice.chance(0.2))].map(
      async ({ site, batch }, i) => {
        const [pause, process] = [dice.whole(i % 3 === 0 ? 20 : 400), dice.one(processes)];
        await sleep(pause);
        await this.#sender.send(site, batch, process);
      },
    );
    const mischief = this.#mischief.happen(
      step,
      dice.another(),
      this.#sites.map(({ book }) => book.app),
    );
    let isOver = false;
    const polling = Array.from({ length: POLLERS }, (_, i) =>
      this.#poll([0, 5, 50][i] ?? 0, dice.another(), () => isOver),
    );
    try {
      await Promise.all([...sending, mischief]);
    } finally {
      isOver = true;
      await Promise.all(polling);
    }
    this.#old = [...this.#old, ...fresh].slice(-40);
  }

  async #poll(pause: number, dice: Dice, isOver: () => boolean): Promise<void> {
    for (let asked = 0; !isOver(); asked++) {
      const site = dice.one(this.#sites);
      const process = dice.one(this.#world.processes);
      const question = dice.one(site.questions);
      const tags = dice.one<Tags>(['all', 'last', 'none']);
      if (process.isUp && !site.isSpoiled) {
        const outcome = await this.#asker.ask(process, site.book, question, tags);
        if (outcome === 'wrong') site.isSpoiled = true;
        if (outcome === 'refused') await sleep(REFUSED_MS);
      }
      await sleep(asked < EAGER ? pause : REST_MS);
    }
  }

  /**
   * Asks every process every question. Everything is acknowledged and nothing is underway, so the answers
   * must be exact.
   */
  async #lookAround(dice: Dice): Promise<void> {
    const asks = this.#sites.flatMap((site) => {
      askAboutMore(site, dice);
      const tags = dice.weighted<Tags>([
        [7, 'all'],
        [2, 'none'],
        [1, 'last'],
      ]);
      return site.questions.flatMap((question) =>
        this.#world.processes
          .filter(({ isUp }) => isUp)
          .map(
            (process) => () =>
              this.#settle(site, process, () => this.#asker.ask(process, site.book, question, tags)),
          ),
      );
    });
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let ask = asks.shift(); ask !== undefined; ask = asks.shift()) await ask();
      }),
    );
  }

  /**
   * Repeats a question until it is answered. Statements that were cut off before may keep the service busy
   * for a while.
   */
  async #settle(site: Site, process: Process, ask: () => ReturnType<Asker['ask']>): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS && !site.isSpoiled; attempt++) {
      const outcome = await ask();
      if (outcome === 'wrong') site.isSpoiled = true;
      if (outcome !== 'refused' && outcome !== 'forbidden') return;
      await sleep(REFUSED_MS);
    }
    if (site.isSpoiled) return;
    site.isSpoiled = true;
    this.#history.wrong(`${process.name} answers no question`, [process.output.slice(-2_000)]);
  }
}
