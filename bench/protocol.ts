import { z } from 'zod';

/** To the process that holds a data set: which case to run. */
export const AskSchema = z.object({
  endpoint: z.string(),
  range: z.string(),
  /** Also asks the raw question, and compares. */
  withRaw: z.boolean(),
});

/** From it: what that took. */
export const AnswerSchema = z.object({
  ms: z.number(),
  raw: z.object({ ms: z.number(), equal: z.boolean() }).nullable(),
});
