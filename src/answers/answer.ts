import type { z } from 'zod';

/** A deeply read-only result. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

/** What a schema describes, for those who only read it. */
export type Answer<Schema extends z.ZodType> = Frozen<z.input<Schema>>;
