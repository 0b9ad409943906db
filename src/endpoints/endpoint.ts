import { z } from 'zod';
import type { Analytics } from '../analytics/results.ts';
import type { Basis } from '../analytics/scopes.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { Clock } from '../domain/time.ts';
import type { Access, Principal } from '../metadata/types.ts';

type Shape = z.ZodObject<z.ZodRawShape, z.core.$strict>;
/** A strict object of strings, as it is or transformed. */
export type QuerySchema = Shape | z.ZodPipe<Shape, z.ZodTransform>;

/** What a handler may ask. */
export interface Services {
  readonly analytics: Analytics;
  readonly access: Access;
  readonly clock: Clock;
}

export interface Input<Query, Body> extends Services {
  readonly query: Query;
  readonly body: Body;
  readonly principal: Principal;
}

/** A result is never written to once it is made. */
export type Answer<T> = T extends readonly (infer Item)[]
  ? readonly Answer<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Answer<T[Key]> }
    : T;

/** What a handler gives: a list may be gone through without being in memory as a whole. */
type Handled<T> = T extends readonly (infer Item)[] ? Iterable<Answer<Item>> : Answer<T>;

/** An endpoint of the Public API as one value: what comes in, what goes out, what it means. */
export interface Endpoint<
  Query extends QuerySchema = QuerySchema,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  readonly operationId: string;
  readonly method: 'get' | 'post';
  readonly path: `/api/v1/${string}`;
  readonly summary: string;
  readonly description: string;
  /** One with `appId` makes it an analytics endpoint: the plan and the access to the app are checked. */
  readonly query: Query;
  readonly body: Body;
  readonly response: Response;
  /** Beyond what every endpoint can answer. */
  readonly errors: readonly ErrorCode[];
  /** Throws `validation_failed` for what the schema alone cannot tell: before anything is looked up. */
  check(query: z.output<Query>, clock: Clock): void;
  /** What the answer rests on, so that its version is known before it is computed; null where it is not app data. */
  basis(query: z.output<Query>, clock: Clock): Basis | null;
  handler(input: Input<z.output<Query>, z.output<Body>>): Promise<Handled<z.input<Response>>>;
}

type Optional = 'description' | 'body' | 'errors' | 'check' | 'basis';
type Definition<Query extends QuerySchema, Body extends z.ZodType, Response extends z.ZodType> = Omit<
  Endpoint<Query, Body, Response>,
  Optional
> &
  Partial<Pick<Endpoint<Query, Body, Response>, Optional>>;

/** Checks the types of the parts against each other; clients take theirs from them. */
export function defineEndpoint<
  Query extends QuerySchema,
  Response extends z.ZodType,
  Body extends z.ZodType = z.ZodUndefined,
>(definition: Definition<Query, Body, Response>): Endpoint<Query, Body, Response> {
  return {
    description: '',
    body: z.undefined(),
    errors: [],
    check: () => undefined,
    basis: () => null,
    ...definition,
  } as unknown as Endpoint<Query, Body, Response>;
}

/** The object schema whose keys are the parameters' names. */
export const parametersOf = (query: QuerySchema): Shape => (query instanceof z.ZodPipe ? query.in : query);
