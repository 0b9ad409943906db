import { pathToFileURL } from 'node:url';

/*
 * How many machines a load needs: measured costs, multiplied. `npm run capacity` prints the table of docs/scaling.md.
 */

/** Measured on 2 cores of a virtual machine (docs/benchmarks.md, docs/ingestion.md). Core seconds, bytes. */
export const MEASURED = {
  /** Batches of 20 events and of 500, on both cores, with the load generator. */
  events20PerSecond: 34_240,
  events500PerSecond: 85_000,
  cores: 2,
  /** Sealing, on both cores. */
  pageFactsPerSecond: 497_000,
  sessionFactsPerSecond: 748_000,
  /** A poll that is answered with 304, over all endpoints, with Redis. */
  pollsPerSecond: 10_278,
  /** The look-up of the data's version that each poll needs on a server, and any small statement. */
  statementSeconds: 0.005,
  /** A question that ends now, with new events: the slowest, the overview. */
  questionSeconds: 0.215 * 2,
  /** On disk, with all rollups and facts. */
  bytesPerEvent: 21.4,
  /** A request of the SDK with a batch of 4 events; 144 in batches of 20. */
  wireBytesPerEvent: 260,
} as const;

/** What a month looks like. Not measured: change it to your own. */
export const ASSUMED = {
  eventsPerBatch: 4,
  eventsPerSession: 12,
  /** The busiest hour, relative to the average. */
  peak: 3,
  pollsPerEvent: 1 / 20,
  questionsPerEvent: 1 / 2_000,
  /** Merging and fetching the parts of the other replica, relative to storing them. */
  replicaWork: 0.5,
  replicas: 2,
  /** Batch ids are kept for 9 days: three random ids each do not compress. */
  batchBytes: 60,
  batchDays: 9,
  monthsKept: 24,
} as const;

/** A machine of each kind. Half of its cores are for merges, restarts and the hour that is worse than the peak. */
export const MACHINES = {
  node: { cores: 16, gib: 64, terabytes: 4 },
  api: { cores: 4, gib: 8 },
  usable: 0.5,
  diskUsable: 0.7,
} as const;

const SECONDS_PER_MONTH = 30 * 86_400;
const TERABYTE = 1e12;

/** Core seconds of a batch and of an event: the line through the two measurements. */
export function costOfEvents(): { readonly batch: number; readonly event: number } {
  const { cores, events20PerSecond, events500PerSecond } = MEASURED;
  const [small, large] = [(20 * cores) / events20PerSecond, (500 * cores) / events500PerSecond];
  const event = (large - small) / (500 - 20);
  return { batch: small - 20 * event, event };
}

export interface Capacity {
  readonly eventsPerSecond: number;
  readonly sessions: number;
  readonly peakPerSecond: number;
  /** Cores at the peak. */
  readonly ingestion: number;
  readonly sealing: number;
  readonly questions: number;
  readonly polls: number;
  /** Of all replicas, for the months that are kept. */
  readonly terabytes: number;
  /** At the peak, into the API. */
  readonly megabitsPerSecond: number;
  readonly apis: number;
  readonly shards: number;
  readonly nodes: number;
  /** Batches per second at the peak on the first shard, which has the journal. */
  readonly journalPerSecond: number;
}

export function capacity(eventsPerMonth: number): Capacity {
  const eventsPerSecond = eventsPerMonth / SECONDS_PER_MONTH;
  const peakPerSecond = eventsPerSecond * ASSUMED.peak;
  const { batch, event } = costOfEvents();
  const ingestion = peakPerSecond * (event + batch / ASSUMED.eventsPerBatch);
  const { cores, pageFactsPerSecond, sessionFactsPerSecond } = MEASURED;
  const sealing = peakPerSecond * (cores / pageFactsPerSecond + cores / sessionFactsPerSecond);
  const questions = peakPerSecond * ASSUMED.questionsPerEvent * MEASURED.questionSeconds;
  const pollsPerSecond = peakPerSecond * ASSUMED.pollsPerEvent;
  const ofApi = pollsPerSecond * (cores / MEASURED.pollsPerSecond);
  const ofStore = pollsPerSecond * MEASURED.statementSeconds;
  const bytes =
    eventsPerMonth * ASSUMED.monthsKept * MEASURED.bytesPerEvent +
    (eventsPerSecond / ASSUMED.eventsPerBatch) * ASSUMED.batchDays * 86_400 * ASSUMED.batchBytes;
  const terabytes = (bytes * ASSUMED.replicas) / TERABYTE;
  // HTTP, validation and JSON are about half of a batch's cost.
  const apiCores = ingestion / 2 + ofApi;
  // Questions, sealing and looking up spread over the replicas. Storing is done once and fetched by the others.
  const storing = (ingestion / 2) * (1 + ASSUMED.replicaWork * (ASSUMED.replicas - 1));
  const nodeCores = storing + sealing * (1 + ASSUMED.replicaWork) + questions + ofStore;
  const { node, api, usable, diskUsable } = MACHINES;
  const shards = Math.max(
    1,
    Math.ceil(nodeCores / (node.cores * usable * ASSUMED.replicas)),
    Math.ceil(terabytes / (node.terabytes * diskUsable * ASSUMED.replicas)),
  );
  return {
    eventsPerSecond,
    sessions: eventsPerMonth / ASSUMED.eventsPerSession,
    peakPerSecond,
    ingestion,
    sealing,
    questions,
    polls: ofApi + ofStore,
    terabytes,
    megabitsPerSecond: (peakPerSecond * MEASURED.wireBytesPerEvent * 8) / 1e6,
    // One more than needed: one may restart.
    apis: Math.ceil(apiCores / (api.cores * usable)) + 1,
    shards,
    nodes: shards * ASSUMED.replicas,
    journalPerSecond: peakPerSecond / ASSUMED.eventsPerBatch,
  };
}

const LOADS = [1e9, 1e10, 1e11];
const count = (value: number): string => Math.round(value).toLocaleString('en-US');
const cores = (value: number): string => value.toFixed(1);

const ROWS: readonly (readonly [string, (found: Capacity) => string])[] = [
  ['sessions a month, in millions', ({ sessions }) => count(sessions / 1e6)],
  ['events/s, average', ({ eventsPerSecond }) => count(eventsPerSecond)],
  ['events/s, busiest hour', ({ peakPerSecond }) => count(peakPerSecond)],
  ['cores for ingestion', ({ ingestion }) => cores(ingestion)],
  ['cores for sealing', ({ sealing }) => cores(sealing)],
  ['cores for questions', ({ questions }) => cores(questions)],
  ['cores for polls', ({ polls }) => cores(polls)],
  ['Mbit/s of events into the API', ({ megabitsPerSecond }) => count(megabitsPerSecond)],
  ['batches/s in the journal', ({ journalPerSecond }) => count(journalPerSecond)],
  [`TB on disk, ${ASSUMED.monthsKept} months, both replicas`, ({ terabytes }) => terabytes.toFixed(1)],
  [`API machines (${MACHINES.api.cores} cores, ${MACHINES.api.gib} GiB)`, ({ apis }) => count(apis)],
  ['shards', ({ shards }) => count(shards)],
  [
    `ClickHouse nodes (${MACHINES.node.cores} cores, ${MACHINES.node.gib} GiB, ${MACHINES.node.terabytes} TB)`,
    ({ nodes }) => count(nodes),
  ],
];

/** The table of docs/scaling.md. */
export function capacityTable(): string {
  const found = LOADS.map(capacity);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(['events a month', ...LOADS.map((load) => `${load / 1e9} billion`)]),
    line(['---', ...LOADS.map(() => '---')]),
    ...ROWS.map(([name, of]) => line([name, ...found.map(of)])),
  ].join('\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.stdout.write(`${capacityTable()}\n`);
