import { z } from 'zod';
import type { Recording } from './recording.ts';

/** What the service acknowledged for an app. */
export interface Stored {
  readonly appId: string;
  readonly key: string;
  readonly pageviews: number;
  /** Pageviews in batches without an answer. They may have been stored. */
  readonly unanswered?: number;
}

const Kpis = z.object({ current: z.object({ pageviews: z.number() }) });
const ALL_TIME = 'from=2020-01-01T00:00:00Z&to=2099-01-01T00:00:00Z';

/** Returns an app's pageviews of all time by the Public API. */
export async function pageviewsOf(url: string, appId: string, key: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/sessions/overview/kpis?appId=${appId}&${ALL_TIME}`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text.slice(0, 300)}`);
  return Kpis.parse(JSON.parse(text)).current.pageviews;
}

interface Loaded {
  readonly bench: string;
  readonly name?: string;
  readonly url: string;
  readonly apps: readonly Stored[];
}

/** Records the pageviews that the service counts after a load, and whether they are exactly those that it acknowledged. */
export async function recordCounted(
  recording: Recording,
  { bench, name = 'all apps', url, apps }: Loaded,
): Promise<void> {
  recording.progress.say(`${bench}: counting`);
  const counted: number[] = [];
  for (const { appId, key } of apps) counted.push(await pageviewsOf(url, appId, key));
  const exact = apps.every(({ pageviews, unanswered = 0 }, i) => {
    const more = (counted[i] ?? Number.NaN) - pageviews;
    return more >= 0 && more <= unanswered;
  });
  const sum = counted.reduce((total, one) => total + one, 0);
  const which = { bench, name, measure: 'pageviews counted', unit: 'count' as const };
  recording.record({ ...which, better: null, runs: [sum], exact });
}
