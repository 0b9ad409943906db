import { startBridge } from './bridge.ts';

/**
 * The bridge as a separate process, for several processes to share: `node --import tsx
 * test/support/bridge-main.ts FOLDER [HOST PORT]`. It takes CLICKHOUSE_USER and CLICKHOUSE_PASSWORD like the
 * ClickHouse image, prints its URL and runs until SIGTERM.
 */
const [dataDir, host = '127.0.0.1', port = '0'] = process.argv.slice(2);
if (dataDir === undefined) throw new Error('usage: bridge-main.ts FOLDER [HOST PORT]');
const bridge = await startBridge({
  dataDir,
  host,
  port: Number(port),
  username: process.env['CLICKHOUSE_USER'] ?? 'default',
  password: process.env['CLICKHOUSE_PASSWORD'] ?? '',
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
