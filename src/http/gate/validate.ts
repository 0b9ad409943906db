import type { z } from 'zod';
import { AppError, type FieldError } from '../../domain/errors.ts';
import { parametersOf, type QuerySchema } from '../../endpoints/endpoint.ts';

/** An endpoint without these parameters ignores them, whatever their values are. */
const RANGE_PARAMETERS = ['from', 'to'];
const MAX_ECHO = 100;

/** Parses the text after `?`. Throws `validation_failed`, which names every wrong parameter. */
export function parseQuery<Schema extends QuerySchema>(schema: Schema, search: string): z.output<Schema> {
  const parameters = new URLSearchParams(search);
  const listed = parametersOf(schema).shape;
  for (const name of RANGE_PARAMETERS) if (!Object.hasOwn(listed, name)) parameters.delete(name);
  const repeated = [...repeatedIn(parameters.keys())].map((name) => ({
    field: echo(name),
    message: 'Given more than once.',
  }));
  const result = schema.safeParse(Object.fromEntries(parameters));
  const wrong = [
    ...repeated,
    ...(result.success ? [] : fieldErrors(result.error, 'Unknown parameter.', 'query')),
  ];
  const broken = brokenIn(search)
    .filter((name) => Object.hasOwn(listed, name) && !wrong.some(({ field }) => field === echo(name)))
    .map((name) => ({
      field: echo(name),
      message: 'Its percent-encoding is broken: % begins the hex code of a byte of UTF-8.',
    }));
  const errors = [...wrong, ...broken];
  if (errors.length > 0) throw invalid(errors);
  return result.data as z.output<Schema>;
}

/** The names of parameters whose value is not percent-encoded UTF-8. Decoding would put other characters in it. */
function brokenIn(search: string): string[] {
  const parts = search
    .replace(/^\?/, '')
    .split('&')
    .filter((part) => part.includes('%'));
  return parts.flatMap((part) => {
    try {
      decodeURIComponent(part);
      return [];
    } catch {
      return [...new URLSearchParams(part).keys()];
    }
  });
}

function repeatedIn(names: Iterable<string>): Set<string> {
  const [seen, repeated] = [new Set<string>(), new Set<string>()];
  for (const name of names) (seen.has(name) ? repeated : seen).add(name);
  return repeated;
}

/** Checks a parsed JSON body. Throws `validation_failed`, which names every wrong field. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const result = schema.safeParse(body);
  if (!result.success) throw invalid(fieldErrors(result.error, 'Unknown field.', 'body'));
  return result.data;
}

const invalid = (errors: readonly FieldError[]): AppError =>
  new AppError('validation_failed', 'One or more fields are invalid.', { errors });

/** `whole` names the object itself, for an error that belongs to none of its fields. */
function fieldErrors(error: z.ZodError, unknown: string, whole: string): FieldError[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ field: echo(key), message: unknown }))
      : [{ field: echo(issue.path.join('.')) || whole, message: words(issue) }],
  );
}

function words(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_type' || issue.message.startsWith('Required')) return sentence(issue.message);
  // Only Zod's message tells a missing field from a wrong type.
  return issue.message.endsWith('received undefined') ? 'Required.' : `Must be of type ${issue.expected}.`;
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;

const echo = (name: string): string => name.slice(0, MAX_ECHO);
