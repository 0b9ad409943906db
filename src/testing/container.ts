import { randomBytes } from 'node:crypto';
import { wallClock } from '../cli/wall-clock.ts';
import { messageOf } from '../domain/thrown.ts';
import { remoteHands } from './remote-hands.ts';
import { assertSeed } from './seed-form.ts';
import { Garden } from './seeding.ts';
import { assertFunction, assertSettings, assertText } from './strict.ts';
import { loadTestcontainers, type Testcontainers } from './testcontainers.ts';
import type { Seed, TestService } from './types.ts';

const IMAGE = 'session-analytics';
const [PORT, MANAGEMENT_PORT] = [3000, 3001];
/** The kit needs its own values of them to reach the service. */
const OWN_SETTINGS = [
  'PORT',
  'MANAGEMENT_HOST',
  'MANAGEMENT_PORT',
  'MANAGEMENT_JWT_SECRET',
  'MANAGEMENT_JWT_SECRET_FILE',
];
/** The image opens its store in some seconds. A busy machine takes longer. */
const START_MS = 120_000;

/** A change of the container before it starts. */
type Change = (container: never) => unknown;

/**
 * The service's image as a test container. It needs the package `testcontainers` and a Docker engine. Its store is
 * the embedded engine, unless the settings name a ClickHouse server.
 */
export class SessionAnalyticsContainer {
  readonly #image: string;
  readonly #seeds: Seed[] = [];
  readonly #settings: Record<string, string> = {};
  readonly #changes: Change[] = [];

  /** `image`: as it was built or pulled; `session-analytics` by default. */
  constructor(image: string = IMAGE) {
    assertText('the image', image);
    this.#image = image;
  }

  /** Plants this once the service is ready. Can be called several times. */
  withSeed(seed: Seed): this {
    assertSeed(seed);
    this.#seeds.push(seed);
    return this;
  }

  /** Adds settings of the README, by name. */
  withSettings(settings: Readonly<Record<string, string>>): this {
    assertSettings(settings);
    const own = OWN_SETTINGS.find((name) => Object.hasOwn(settings, name));
    if (own !== undefined) throw new Error(`settings: ${own} of a container is set by the kit.`);
    Object.assign(this.#settings, settings);
    return this;
  }

  /**
   * Changes the container of testcontainers before it starts, for all that has no method here:
   * `.withContainer((container: GenericContainer) => container.withNetwork(network))`.
   */
  withContainer<Container extends object>(change: (container: Container) => Container): this {
    assertFunction('the change of the container', change);
    this.#changes.push(change as Change);
    return this;
  }

  /**
   * Starts the container, and resolves when the service is ready and the seeds are planted. Rejects with one Error that
   * says what is missing. No container is left then.
   */
  async start(): Promise<TestService> {
    const library = await loadTestcontainers();
    const managementSecret = randomBytes(32).toString('base64url');
    const container = this.#container(library, managementSecret);
    const started = await container.start().catch((error: unknown) => {
      throw startFailure(this.#image, error);
    });
    const at = (port: number): string => `http://${started.getHost()}:${started.getMappedPort(port)}`;
    const [url, managementUrl] = [at(PORT), at(MANAGEMENT_PORT)];
    const garden = new Garden(remoteHands({ url, managementUrl, managementSecret, clock: wallClock }));
    let closing: Promise<void> | undefined;
    const close = (): Promise<void> => {
      closing ??= started.stop().then(() => undefined);
      return closing;
    };
    try {
      for (const seed of this.#seeds) await garden.plant(seed);
    } catch (error) {
      await close();
      throw error;
    }
    return {
      url,
      managementUrl,
      get accounts() {
        return garden.accounts;
      },
      account: (name) => garden.account(name),
      app: (name) => garden.app(name),
      plant: (seed) => garden.plant(seed),
      record: (app, sessions) => garden.record(app, sessions),
      close,
    };
  }

  #container({ GenericContainer, Wait }: Testcontainers, managementSecret: string) {
    const container = new GenericContainer(this.#image)
      .withEnvironment({
        ...this.#settings,
        PORT: String(PORT),
        // The kit seeds over the management API, which otherwise listens inside the container only.
        MANAGEMENT_HOST: '0.0.0.0',
        MANAGEMENT_PORT: String(MANAGEMENT_PORT),
        MANAGEMENT_JWT_SECRET: managementSecret,
      })
      .withExposedPorts(PORT, MANAGEMENT_PORT)
      .withWaitStrategy(Wait.forHttp('/readyz', PORT).forStatusCode(200))
      .withStartupTimeout(START_MS);
    for (const change of this.#changes) change(container as never);
    return container;
  }
}

function startFailure(image: string, error: unknown): Error {
  const reason = messageOf(error);
  const advice = /runtime strategy/i.test(reason)
    ? 'No Docker engine answers: start it, or set DOCKER_HOST. startTestService needs none.'
    : `Is there an image ${image}? docker build --tag ${image} . in a checkout of the service makes it.`;
  return new Error(`The container of ${image} did not start: ${reason}. ${advice}`, { cause: error });
}
