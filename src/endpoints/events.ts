import { z } from 'zod';
import type { EventsQuestion } from '../analytics/answers/results.ts';
import { basisOf, eventListBasis } from '../analytics/scopes.ts';
import { EventRow } from '../answers/rows.ts';
import { defineQuestion } from './endpoint.ts';
import { inOrder, listParameters, OUT_OF_ORDER, withRange } from './query.ts';

const NameParam = z
  .string()
  .min(1, 'Must not be empty.')
  .optional()
  .meta({ description: 'Only the custom events with this name. Goes with `property`.', example: 'signup' });
const PropertyParam = z.string().min(1, 'Must not be empty.').optional().meta({
  description: 'The rows are the values of this property of the events with the name.',
  example: 'plan',
});

interface Sent {
  readonly type: EventsQuestion['type'];
  readonly name?: string | undefined;
  readonly property?: string | undefined;
}

/** What is wrong with `name` and `property`: they go together, and only with custom events. */
function problemsOf({
  type,
  name,
  property,
}: Sent): { readonly field: keyof Sent; readonly message: string }[] {
  const given = (
    [
      ['name', name],
      ['property', property],
    ] as const
  ).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  if (type !== 'custom') return given.map((field) => ({ field, message: 'Only possible with type=custom.' }));
  if (given.length !== 1) return [];
  return name === undefined
    ? [{ field: 'name', message: 'Required with property: the name of the custom events.' }]
    : [{ field: 'property', message: 'Required with name: the property whose values are listed.' }];
}

const EventsQuery = z
  .strictObject({
    ...listParameters,
    type: z
      .enum(['click', 'error', 'custom'], 'Required: click, error or custom.')
      .meta({ description: 'The type of the events.' }),
    name: NameParam,
    property: PropertyParam,
  })
  .refine(inOrder, OUT_OF_ORDER)
  .superRefine((sent, ctx) => {
    for (const { field, message } of problemsOf(sent)) {
      ctx.addIssue({ code: 'custom', path: [field], message });
    }
  })
  .transform(({ type, name, property, ...others }) => ({
    ...withRange(others),
    question: {
      type,
      property: name === undefined || property === undefined ? null : { name, key: property },
    },
  }));

export const events = defineQuestion({
  operationId: 'listEvents',
  path: '/api/v1/sessions/events',
  summary: 'Clicks, errors or custom events by name, or by the value of a property',
  description: 'By count descending, then name in byte order; an absent name is last among equal counts.',
  query: EventsQuery,
  response: z.array(EventRow),
  errors: ['beyond_retention'],
  question: ({ appId, range, question, limit, segment }) => ({
    basis: basisOf(eventListBasis(range), segment),
    compute: (analytics) => analytics.events(appId, range, question, limit, segment),
  }),
});
