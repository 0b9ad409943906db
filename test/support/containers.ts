import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers';

/**
 * Pinned; docker-compose.yml runs the same versions. ClickHouse's is the version line of the embedded engine.
 */
export const CLICKHOUSE_IMAGE = 'clickhouse/clickhouse-server:26.7.3.19';
export const REDIS_IMAGE = 'redis:7.4-alpine';

const PASSWORD = 'test';
const START_MS = 120_000;

export interface TestContainers {
  /** The variables of the harness: CLICKHOUSE_URL, CLICKHOUSE_USER, CLICKHOUSE_PASSWORD, REDIS_URL. */
  readonly environment: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/** True if a Docker engine answers. */
export const hasDocker = (): Promise<boolean> =>
  getContainerRuntimeClient().then(
    () => true,
    () => false,
  );

/** Starts ClickHouse and Redis, each on a free port, and waits until both answer. */
export async function startContainers(): Promise<TestContainers> {
  const started: StartedTestContainer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((container) => container.stop()));
  };
  const start = async (container: GenericContainer): Promise<StartedTestContainer> => {
    const running = await container.withStartupTimeout(START_MS).start();
    started.push(running);
    return running;
  };
  try {
    const clickhouse = await start(clickhouseContainer());
    const redis = await start(redisContainer());
    const at = (container: StartedTestContainer, port: number) =>
      `${container.getHost()}:${container.getMappedPort(port)}`;
    return {
      environment: {
        CLICKHOUSE_URL: `http://${at(clickhouse, 8123)}`,
        CLICKHOUSE_USER: 'default',
        CLICKHOUSE_PASSWORD: PASSWORD,
        REDIS_URL: `redis://${at(redis, 6379)}`,
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const clickhouseContainer = (): GenericContainer =>
  new GenericContainer(CLICKHOUSE_IMAGE)
    .withExposedPorts(8123)
    .withEnvironment({ CLICKHOUSE_PASSWORD: PASSWORD })
    .withWaitStrategy(Wait.forHttp('/ping', 8123).forStatusCode(200));

const redisContainer = (): GenericContainer =>
  new GenericContainer(REDIS_IMAGE)
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'));
