/* The parts of an OpenAPI document that the reference shows. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly example?: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema: Schema;
}

export interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Response {
  readonly $ref?: string;
  readonly description: string;
  readonly content?: Readonly<Record<string, Media>>;
  /** The other media types, for callers who ask for one by `Accept`. */
  readonly 'x-forms'?: Readonly<Record<string, Media>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface Components {
  readonly schemas?: Readonly<Record<string, Schema>>;
  readonly responses?: Readonly<Record<string, Response>>;
  readonly headers?: Readonly<Record<string, { readonly description: string }>>;
}

export interface Documentation {
  readonly info: { readonly title: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Components;
}

/** An operation with its method, in upper case, and its path. */
export interface Placed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export const operationsOf = ({ paths }: Documentation): Placed[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

/** True if the caller sends a credential in the Authorization header. */
export const needsKey = ({ security = [] }: Documentation, operation: Operation): boolean =>
  (operation.security ?? security).some((schemes) => 'apiKey' in schemes || 'token' in schemes);

/** True if the caller is a page, with the cookie of a session or with the token of a link. A command has neither. */
export const isByPage = ({ security = [] }: Documentation, operation: Operation): boolean =>
  (operation.security ?? security).some((schemes) => 'session' in schemes || 'link' in schemes);

export const followed = ({ schemas = {} }: Components, schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {});

export const responseOf = ({ responses = {} }: Components, response: Response): Response =>
  response.$ref === undefined
    ? response
    : (responses[response.$ref.replace('#/components/responses/', '')] ?? response);

/** The example of a body, or of an answer in JSON. */
export const exampleOf = (content: Readonly<Record<string, Media>> | undefined): unknown =>
  content?.['application/json']?.example;
