import { z } from 'zod';
import { MOST_CHARACTERS, parseSegment, type Segment } from '../domain/segment.ts';

/** The sessions to which an answer is narrowed; all of them without it. */
export const SegmentParam = z
  .string()
  .transform((text, ctx): Segment => {
    const result = parseSegment(text);
    if (!('problem' in result)) return result;
    ctx.addIssue({ code: 'custom', message: result.problem });
    return z.NEVER;
  })
  .optional()
  .meta({
    description:
      'Narrows the answer to some sessions: conditions such as `country==IR`, with `,` for "or" and `;` for "and". A `%`, `,` or `;` in a value is percent-encoded once more. The guide on segments, `/docs/segments`, lists what is possible.',
    example: 'country==IR;device!=mobile',
    override: { type: 'string', maxLength: MOST_CHARACTERS },
  });
