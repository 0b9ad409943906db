import { z } from 'zod';
import type { Analytics } from '../analytics/answers/results.ts';
import type { Basis } from '../analytics/scopes.ts';
import type { Frozen } from '../answers/answer.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { EpochMs } from '../domain/time.ts';
import type { Access, Principal } from '../metadata/types.ts';

type Shape = z.ZodObject<z.ZodRawShape, z.core.$strict>;
/** A strict object of strings, possibly transformed. */
export type QuerySchema = Shape | z.ZodPipe<Shape, z.ZodTransform>;

/** A request about an account. */
export interface AccountRequest<Query, Body> {
  readonly access: Access;
  readonly principal: Principal;
  readonly query: Query;
  readonly body: Body;
}

/** A question about an app, of one moment. */
export interface Question<Result = unknown> {
  /** The data behind the answer, so that its version is known before it is computed. */
  readonly basis: Basis;
  compute(analytics: Analytics): Promise<Result>;
}

/** A handler's result. A list may be iterable, so that it is never in memory as a whole. */
type Handled<T> = T extends readonly (infer Item)[] ? Iterable<Frozen<Item>> : Frozen<T>;

/** What an endpoint of the Public API is called, takes and answers. */
interface Described<Query extends QuerySchema, Body extends z.ZodType, Response extends z.ZodType> {
  readonly operationId: string;
  readonly method: 'get' | 'post';
  readonly path: `/api/v1/${string}`;
  readonly summary: string;
  readonly description: string;
  readonly query: Query;
  readonly body: Body;
  readonly response: Response;
  /** Error codes besides those that every endpoint can answer. */
  readonly errors: readonly ErrorCode[];
}

/** An endpoint about an app: its query has `appId`. The plan and the access to the app are checked. */
export interface AppEndpoint<
  Query extends QuerySchema = QuerySchema,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> extends Described<Query, Body, Response> {
  /** Throws `validation_failed` for errors that the schema cannot find. */
  question(query: z.output<Query>, now: EpochMs): Question<Handled<z.input<Response>>>;
}

/** An endpoint about the caller's account. */
export interface AccountEndpoint<
  Query extends QuerySchema = QuerySchema,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> extends Described<Query, Body, Response> {
  handler(request: AccountRequest<z.output<Query>, z.output<Body>>): Promise<Handled<z.input<Response>>>;
}

/** An endpoint of the Public API as one value: input, output and meaning. */
export type Endpoint = AppEndpoint | AccountEndpoint;

export const isAboutApp = (endpoint: Endpoint): endpoint is AppEndpoint => 'question' in endpoint;

type Optional = 'description' | 'errors';
type Definition<Whole, Other extends keyof Whole> = Omit<Whole, Other> & Partial<Pick<Whole, Other>>;

const DEFAULTS = { description: '', errors: [], body: z.undefined() } as const;

/** Checks the types of the parts against each other. Clients take their types from them. */
export const defineQuestion = <Query extends QuerySchema, Response extends z.ZodType>(
  definition: Definition<AppEndpoint<Query, z.ZodUndefined, Response>, Optional | 'method' | 'body'>,
): AppEndpoint<Query, z.ZodUndefined, Response> => ({ ...DEFAULTS, method: 'get', ...definition });

/** The same for an endpoint about the account. */
export const defineEndpoint = <
  Query extends QuerySchema,
  Response extends z.ZodType,
  Body extends z.ZodType = z.ZodUndefined,
>(
  definition: Definition<AccountEndpoint<Query, Body, Response>, Optional | 'body'>,
): AccountEndpoint<Query, Body, Response> =>
  ({ ...DEFAULTS, ...definition }) as AccountEndpoint<Query, Body, Response>;

/** The object schema whose keys are the parameters' names. */
export const parametersOf = (query: QuerySchema): Shape => (query instanceof z.ZodPipe ? query.in : query);
