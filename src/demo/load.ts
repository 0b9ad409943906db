import { createHash } from 'node:crypto';
import { appId } from '../domain/ids.ts';
import { type Clock, DAY_MS, type EpochMs, epochMs } from '../domain/time.ts';
import type { Ingestion } from '../ingestion/ingestion.ts';
import { MAX_SESSIONS } from '../ingestion/wire.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { DEMO_DOMAIN } from './site.ts';
import { type DemoState, readState, writeState } from './state.ts';
import { DEMO_DAYS, type Visit, visits } from './visits.ts';

export interface DemoParts {
  readonly metadata: Metadata;
  readonly ingestion: Ingestion;
  readonly clock: Clock;
  /** The folder of the demo's own state. */
  readonly folder: string;
  /** `share` goes from 0 to 1. `events` counts those stored by this start. */
  readonly onProgress: (share: number, events: number) => void;
}

/** Below the limit of a batch, with room for one more visit. */
const EVENTS_PER_BATCH = 4_000;
/** Batches sent at once: ingestion stores waiting batches together. */
const BATCHES_AT_ONCE = 4;

/**
 * Creates the demo's account, key and app if they do not exist, and loads the missing visits up to now. Can
 * be interrupted at any point and run again: no visit counts twice.
 */
export async function prepareDemo(parts: DemoParts): Promise<DemoState> {
  let state = readState(parts.folder) ?? (await createDemo(parts));
  writeState(parts.folder, state);
  state = await load(parts, state);
  const now = parts.clock();
  if (state.until < now) {
    state = { ...state, until: now };
    writeState(parts.folder, state);
    state = await load(parts, state);
  }
  return state;
}

async function createDemo({ metadata, clock }: DemoParts): Promise<DemoState> {
  const account = await metadata.createAccount({ name: 'Demo', plan: 'pro' });
  const { apiKey } = await metadata.createKey(account.accountId, { expiresAt: null });
  const principal = await metadata.authenticate(apiKey);
  if (principal === null) throw new Error('The new key is not accepted.');
  const app = await metadata.createApp(principal, { name: 'Demo shop', domain: DEMO_DOMAIN });
  const now = clock();
  return {
    apiKey,
    appId: app.id,
    secretKey: app.secretKey,
    start: now - DEMO_DAYS * DAY_MS,
    until: now,
    loaded: 0,
  };
}

async function load(parts: DemoParts, state: DemoState): Promise<DemoState> {
  let current = state;
  let events = 0;
  let first: number | null = null;
  for (const group of groups(epochMs(state.start), epochMs(state.until), state.loaded)) {
    const accepted = await Promise.all(group.map((batch) => send(parts.ingestion, state.appId, batch)));
    events += accepted.reduce((sum, count) => sum + count, 0);
    const sent = group.flat();
    current = { ...current, loaded: current.loaded + sent.length };
    writeState(parts.folder, current);
    first ??= Date.parse(sent[0]?.startedAt ?? '');
    const last = Date.parse(sent.at(-1)?.startedAt ?? '');
    parts.onProgress((last - first) / Math.max(1, state.until - first), events);
  }
  return current;
}

/** Yields the visits after the first `skip`, in groups of batches. */
function* groups(start: EpochMs, until: EpochMs, skip: number): Generator<Visit[][]> {
  let index = 0;
  let batch: Visit[] = [];
  let events = 0;
  let group: Visit[][] = [];
  for (const visit of visits(start, until)) {
    index += 1;
    if (index <= skip) continue;
    batch.push(visit);
    events += visit.events.length;
    if (batch.length < MAX_SESSIONS && events < EVENTS_PER_BATCH) continue;
    group.push(batch);
    batch = [];
    events = 0;
    if (group.length < BATCHES_AT_ONCE) continue;
    yield group;
    group = [];
  }
  if (batch.length > 0) group.push(batch);
  if (group.length > 0) yield group;
}

/** Sends visits under an id that depends on their content only. Returns the number of stored events. */
async function send(ingestion: Ingestion, app: string, sessions: readonly Visit[]): Promise<number> {
  const batchId = uuidOf(`${app} ${sessions[0]?.id} ${sessions.at(-1)?.id}`);
  const result = await ingestion.accept(
    { id: appId(app), domain: DEMO_DOMAIN },
    { batchId, sessions },
    { userAgent: '', address: '' },
  );
  const [rejected] = result.rejected;
  if (rejected !== undefined) throw new Error(`A made-up visit was rejected: ${rejected.message}`);
  return result.accepted;
}

const uuidOf = (text: string): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
