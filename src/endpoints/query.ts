import { z } from 'zod';
import { appId, isUuid } from '../domain/ids.ts';
import { INTERVALS } from '../domain/interval.ts';
import { DIMENSIONS, type Segment } from '../domain/segment.ts';
import type { EpochMs } from '../domain/time.ts';
import { zoneOf } from '../domain/zone.ts';
import { SegmentParam } from './segment.ts';
import { parseTimestamp, type Rounding } from './timestamp.ts';

const MAX_ROWS = 10_000;

const AppIdParam = z
  .string('Required: the UUID of an app.')
  .refine(isUuid, 'Must be a UUID.')
  .transform(appId)
  .meta({
    description: 'The app, as `GET /api/v1/apps` names it. Owned by the account or shared with it.',
    example: '6f1c2a34-9b1e-4c52-8f0e-2d6f5c1b7a90',
    override: { format: 'uuid' },
  });

const timestampParam = (rounding: Rounding, description: string) =>
  z
    .string()
    .transform((text, ctx): EpochMs => {
      const result = parseTimestamp(text, rounding);
      if ('at' in result) return result.at;
      ctx.addIssue({ code: 'custom', message: result.problem });
      return z.NEVER;
    })
    .optional()
    .meta({ description, example: '2026-11-20T10:46:00.250+03:30', override: { format: 'date-time' } });

const UNBOUNDED = 'the range is unbounded on this side';
const fromParam = (without = UNBOUNDED) =>
  timestampParam(
    'up',
    `First instant that counts, inclusive. ISO 8601 with an offset or \`Z\` (\`+\` is sent as \`%2B\`). Without it, ${without}.`,
  );
const toParam = (without = UNBOUNDED) =>
  timestampParam(
    'down',
    `Last instant that counts, inclusive. ISO 8601 with an offset or \`Z\` (\`+\` is sent as \`%2B\`). Without it, ${without}.`,
  );

const LimitParam = z
  .string()
  // Digits only: Number() would also accept '', 0x10 and 1e3.
  .refine(
    (text) => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= MAX_ROWS,
    `Must be a whole number from 1 to ${MAX_ROWS}.`,
  )
  .transform(Number)
  .optional()
  .meta({
    description: 'Cuts the list after ordering; without it the list is whole.',
    example: '100',
    override: { type: 'integer', minimum: 1, maximum: MAX_ROWS, example: 100 },
  });

const TimezoneParam = z
  .string()
  .refine(
    (name) => zoneOf(name) !== null,
    'Unknown time zone. Send an IANA name, for example Asia/Tehran, or an offset from -23:59 to +23:59, for example %2B03:30.',
  )
  .optional()
  .meta({
    description: 'An IANA name or an offset, `±HH:MM` (`+` is sent as `%2B`). Without it, UTC.',
    example: 'Asia/Tehran',
  });

interface Bounds {
  readonly from?: EpochMs | undefined;
  readonly to?: EpochMs | undefined;
}

export const inOrder = ({ from, to }: Bounds): boolean =>
  from === undefined || to === undefined || from <= to;
export const OUT_OF_ORDER = { path: ['from'], message: 'Must not be later than to.' };

interface Sent extends Bounds {
  readonly segment?: Segment | undefined;
}

export const withRange = <T extends Sent>({ from, to, segment, ...others }: T) => ({
  ...others,
  range: { from: from ?? null, to: to ?? null },
  segment: segment ?? null,
});

/** No parameters. */
export const NoQuery = z.strictObject({});

/** `appId` only. */
export const AppQuery = z.strictObject({ appId: AppIdParam });

/** `appId` and `segment`, for an endpoint with a fixed window. */
export const AppSegmentQuery = z
  .strictObject({ appId: AppIdParam, segment: SegmentParam })
  .transform(({ segment, ...others }) => ({ ...others, segment: segment ?? null }));

/** `appId`, `from`, `to`, `segment`. `without`: the bounds of a range that names none. */
export const rangeQuery = (without: { readonly from?: string; readonly to?: string } = {}) =>
  z
    .strictObject({
      appId: AppIdParam,
      from: fromParam(without.from),
      to: toParam(without.to),
      segment: SegmentParam,
    })
    .refine(inOrder, OUT_OF_ORDER)
    .transform(withRange);

/** `appId`, `from`, `to`, `segment`. */
export const AppRangeQuery = rangeQuery();

/** The parameters of a list about a range. */
export const listParameters = {
  appId: AppIdParam,
  from: fromParam(),
  to: toParam(),
  segment: SegmentParam,
  limit: LimitParam,
} as const;

/** `appId`, `from`, `to`, `segment`, `limit`. */
export const AppRangeListQuery = z
  .strictObject(listParameters)
  .refine(inOrder, OUT_OF_ORDER)
  .transform(withRange);

/** `appId`, `interval`, `timezone`, `from`, `to`, `segment`. */
export const SeriesQuery = z
  .strictObject({
    appId: AppIdParam,
    interval: z.enum(INTERVALS, 'Must be hour, day, week or month.').meta({
      description: 'The unit of a point. Weeks begin on Monday.',
      example: 'day',
    }),
    timezone: TimezoneParam,
    from: fromParam('the answer begins with the first unit with data'),
    to: toParam('the answer ends with the last unit with data'),
    segment: SegmentParam,
  })
  .refine(inOrder, OUT_OF_ORDER)
  .transform(({ timezone, ...others }) => ({ ...withRange(others), timezone: timezone ?? 'UTC' }));

/** `appId`, `by`, `from`, `to`, `segment`, `limit`. */
export const BreakdownQuery = z
  .strictObject({
    by: z
      .enum(DIMENSIONS, `Must be one of ${DIMENSIONS.join(', ')}.`)
      .meta({ description: 'What the rows are: a dimension of sessions.', example: 'country' }),
    ...listParameters,
  })
  .refine(inOrder, OUT_OF_ORDER)
  .transform(withRange);
