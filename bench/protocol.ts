import { z } from 'zod';

/** A message to the process with a data set: the case to run. */
export const AskSchema = z.object({
  endpoint: z.string(),
  range: z.string(),
  /** Also asks the raw question, and compares the answers. */
  withRaw: z.boolean(),
});

/** Its answer: the measurements. */
export const AnswerSchema = z.object({
  ms: z.number(),
  raw: z.object({ ms: z.number(), equal: z.boolean() }).nullable(),
});
