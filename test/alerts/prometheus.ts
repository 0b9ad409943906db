import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { removeFolder } from '../../src/remove-folder.ts';
import { freePort } from '../support/redis.ts';
import { RULES } from '../support/watching.ts';

/** A Prometheus of this machine, on a free port and a temporary folder, with the alerts in a short copy. */
export interface Prometheus {
  /** The values of an instant query, NaN left out. */
  query(expr: string): Promise<number[]>;
  /** The names of the alerts that fire now. */
  firing(): Promise<string[]>;
  close(): Promise<void>;
}

/** The time over which the short copy looks back. */
export const WINDOW = '10s';
const EVERY = '1s';

const Config = z.looseObject({ scrape_configs: z.array(z.looseObject({})) });
const Vector = z.object({
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});
const Alerts = z.object({
  data: z.object({
    alerts: z.array(z.object({ labels: z.looseObject({ alertname: z.string() }), state: z.string() })),
  }),
});

/**
 * Shortens every time of the rules: each alert fires two seconds after its condition, and each window is `WINDOW`.
 * Nothing else changes: names, series, labels and thresholds are those that operators have.
 */
const shortened = (rules: string): string =>
  rules.replaceAll(/^( +for:) \w+$/gm, '$1 2s').replaceAll(/\[\d+[mh]\]/g, `[${WINDOW}]`);

/** The example configuration with a scrape each second, of one target. */
function configFor(target: string): string {
  const { scrape_configs: jobs, ...rest } = Config.parse(
    parse(readFileSync('deploy/prometheus/prometheus.yml', 'utf8')),
  );
  return stringify({
    ...rest,
    global: { scrape_interval: EVERY, scrape_timeout: EVERY, evaluation_interval: EVERY },
    scrape_configs: jobs.map((job) => ({ ...job, static_configs: [{ targets: [target] }] })),
  });
}

/** Starts it, and resolves when it is ready. `managementUrl` is that of the service. */
export async function startPrometheus(managementUrl: string): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'analytics-prometheus-'));
  writeFileSync(join(folder, 'prometheus.yml'), configFor(new URL(managementUrl).host));
  writeFileSync(join(folder, 'rules.yml'), shortened(readFileSync(RULES, 'utf8')));
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const url = `http://127.0.0.1:${port}`;
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(`${url}${path}`);
    if (!response.ok) throw new Error(`Prometheus answers ${response.status}: ${await response.text()}`);
    return response.json();
  };
  await ready(url, child);
  return {
    query: async (expr) => {
      const { data } = Vector.parse(await get(`/api/v1/query?query=${encodeURIComponent(expr)}`));
      return data.result.map(({ value: [, text] }) => Number(text)).filter((value) => !Number.isNaN(value));
    },
    firing: async () => {
      const { data } = Alerts.parse(await get('/api/v1/alerts'));
      const firing = data.alerts.filter(({ state }) => state === 'firing');
      return [...new Set(firing.map(({ labels }) => labels.alertname))].sort();
    },
    close: async () => {
      process.off('exit', killAtExit);
      if (child.exitCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
      removeFolder(folder);
    },
  };
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const response = await fetch(`${url}/-/ready`).catch(() => null);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('Prometheus has ended.');
}
