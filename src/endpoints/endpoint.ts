import { z } from 'zod';
import type { Analytics } from '../analytics/answers/results.ts';
import type { Basis } from '../analytics/scopes.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { EpochMs } from '../domain/time.ts';
import type { Access, Principal } from '../metadata/types.ts';

type Shape = z.ZodObject<z.ZodRawShape, z.core.$strict>;
/** A strict object of strings, possibly transformed. */
export type QuerySchema = Shape | z.ZodPipe<Shape, z.ZodTransform>;

/** Dependencies of a handler. */
export interface Services {
  readonly analytics: Analytics;
  readonly access: Access;
}

export interface Input<Query, Body> extends Services {
  readonly query: Query;
  readonly body: Body;
  readonly principal: Principal;
  /** The moment of the question. Its basis is of the same moment. */
  readonly now: EpochMs;
}

/** A deeply read-only result. */
export type Answer<T> = T extends readonly (infer Item)[]
  ? readonly Answer<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Answer<T[Key]> }
    : T;

/** A handler's result. A list may be iterable, so that it is never in memory as a whole. */
type Handled<T> = T extends readonly (infer Item)[] ? Iterable<Answer<Item>> : Answer<T>;

/** An endpoint of the Public API as one value: input, output and meaning. */
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
  /** A query with `appId` makes an analytics endpoint: the plan and the access to the app are checked. */
  readonly query: Query;
  readonly body: Body;
  readonly response: Response;
  /** Error codes besides those that every endpoint can answer. */
  readonly errors: readonly ErrorCode[];
  /** Throws `validation_failed` for errors that the schema cannot find, before the store is queried. */
  check(query: z.output<Query>, now: EpochMs): void;
  /**
   * The data behind the answer, so that its version is known before it is computed. Null if it is not app
   * data.
   */
  basis(query: z.output<Query>, now: EpochMs): Basis | null;
  handler(input: Input<z.output<Query>, z.output<Body>>): Promise<Handled<z.input<Response>>>;
}

type Optional = 'description' | 'body' | 'errors' | 'check' | 'basis';
type Definition<Query extends QuerySchema, Body extends z.ZodType, Response extends z.ZodType> = Omit<
  Endpoint<Query, Body, Response>,
  Optional
> &
  Partial<Pick<Endpoint<Query, Body, Response>, Optional>>;

/** Checks the types of the parts against each other. Clients take their types from them. */
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
