import { startBridge } from './bridge.ts';
import { freePort } from './redis.ts';

/**
 * The bridge as a separate process, for several processes to share: `node --import tsx
 * test/support/bridge-main.ts FOLDER [HOST PORT]`. It takes CLICKHOUSE_USER and CLICKHOUSE_PASSWORD like the
 * ClickHouse image, and BRIDGE_CLUSTER, the name of a cluster of two shards, with the port of a
 * BRIDGE_ZOOKEEPER. It prints its URL and runs until SIGTERM.
 */
const [dataDir, host = '127.0.0.1', port = '0'] = process.argv.slice(2);
if (dataDir === undefined) throw new Error('usage: bridge-main.ts FOLDER [HOST PORT]');
const cluster = process.env['BRIDGE_CLUSTER'];
const zookeeper = process.env['BRIDGE_ZOOKEEPER']
  ? { zookeeper: Number(process.env['BRIDGE_ZOOKEEPER']) }
  : {};
const bridge = await startBridge({
  dataDir,
  host,
  port: Number(port),
  username: process.env['CLICKHOUSE_USER'] ?? 'default',
  password: process.env['CLICKHOUSE_PASSWORD'] ?? '',
  ...(cluster ? { cluster: { name: cluster, port: await freePort(), ...zookeeper } } : {}),
});
process.stdout.write(`${bridge.url}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    bridge.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}
