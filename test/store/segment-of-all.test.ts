import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Segment } from '../../src/domain/segment.ts';
import { epochMs } from '../../src/domain/time.ts';
import { casesWith } from '../support/generate.ts';
import { WHOLE } from '../support/generate-segments.ts';
import { aboutNow, aboutRange, expectAgreement, outcome, type Subject } from '../support/oracle/compare.ts';
import { oracleStore } from '../support/oracle/store.ts';
import { forAll } from '../support/random.ts';

const on = oracleStore();

test('a segment that matches every session gives the bytes of the answer without one', {
  timeout: 0,
}, async () => {
  await forAll(
    fc.tuple(casesWith(2), fc.constantFrom(...WHOLE)),
    async ([story, whole]) => {
      const compare = async (subject: Subject): Promise<Subject> => {
        subject.clock.now = epochMs(story.moments[0] ?? 0);
        const questions = (segment: Segment | null) => [
          ...aboutNow(segment),
          ...story.probes.flatMap((probe) =>
            aboutRange(probe.asked === undefined ? probe : { ...probe, asked: { ...probe.asked, segment } }),
          ),
        ];
        for (const app of subject.apps()) {
          const [some, all] = await Promise.all(
            [whole, null].map((segment) =>
              Promise.all(
                questions(segment).map(async ({ ask }) =>
                  bytesOf(await outcome(() => ask(subject.analytics, app, subject.clock.now))),
                ),
              ),
            ),
          );
          expect(some).toEqual(all);
        }
        return subject;
      };
      await expectAgreement(on.subject, { ...story, probes: [] }, { beforeQuestions: compare });
    },
    { runs: 10, shrinks: false },
  );
});

const bytesOf = (answer: unknown): string =>
  JSON.stringify(
    typeof answer === 'object' && answer !== null && Symbol.iterator in answer
      ? [...(answer as Iterable<unknown>)]
      : answer,
  );
