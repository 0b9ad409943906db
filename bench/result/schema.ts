import { z } from 'zod';

/** The version of the format. A reader refuses other versions. */
export const VERSION = 1;

/** One series of measurements. `bench`, `name` and `measure` together are its identity in a comparison. */
const CaseSchema = z.strictObject({
  bench: z.string(),
  /** What was asked or sent, such as `pageviews, aligned`. */
  name: z.string(),
  /** What was measured, such as `polled`, `kept`, `first`, `p99`, `throughput`. */
  measure: z.string(),
  unit: z.enum(['ms', 'requests/s', 'events/s', 'bytes', 'MiB', 'cores', '%', 'rows', 'count', 'per minute']),
  /** Null: neither is better, so that a comparison leaves the case out. */
  better: z.enum(['lower', 'higher']).nullable(),
  /** False for a baseline: raw queries, the usual ways, a bare route. */
  ofService: z.boolean(),
  /** The conditions, such as the size of the data. Cases with different ones are not compared. */
  labels: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  /** Each measured run. Warm-up is not among them. */
  runs: z.array(z.number()).min(1),
  /** All latencies, in µs, as a compressed HdrHistogram (V2, base64), where they are too many to list. */
  histogram: z.string().nullable(),
  /** Whether all answers were equal to the exact count. Null: not compared. */
  exact: z.boolean().nullable(),
});
export type Case = z.infer<typeof CaseSchema>;

const EnvironmentSchema = z.strictObject({
  cpu: z.string(),
  cores: z.number(),
  memoryGiB: z.number(),
  system: z.string(),
  node: z.string(),
  /** The embedded engine. Null if it is not installed. */
  engine: z.string().nullable(),
  version: z.string(),
  /** Null outside a checkout. */
  commit: z.string().nullable(),
  /** The load average of the last minute, before and after. */
  loadBefore: z.number(),
  loadAfter: z.number(),
  /** The deployment that was measured. Null: a service on this machine. */
  target: z.string().nullable(),
});
export type Environment = z.infer<typeof EnvironmentSchema>;

export const ResultSchema = z.strictObject({
  format: z.literal('session-analytics-bench'),
  version: z.literal(VERSION),
  command: z.string(),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  /** False if the run was interrupted or failed. It holds what was measured until then. */
  complete: z.boolean(),
  environment: EnvironmentSchema,
  /** Remarks for the reader, such as what was left out and why. */
  notes: z.array(z.string()),
  cases: z.array(CaseSchema).min(1),
});
export type Result = z.infer<typeof ResultSchema>;

export const keyOf = ({ bench, name, measure }: Case): string => `${bench}: ${name}, ${measure}`;
