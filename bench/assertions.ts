import { CliError } from '../src/cli/cli-error.ts';
import { type Case, keyOf } from './result/schema.ts';
import { percentileOf } from './series.ts';
import { runsFor } from './statistics.ts';
import { figure } from './table.ts';

/** `http:p99=50ms`: the 99th percentile of every latency whose name contains `http` is at most 50 ms. */
export interface Assertion {
  readonly text: string;
  readonly named: string;
  readonly share: number;
  readonly ms: number;
}

const FORM = /^(?:(.+):)?p(\d{1,2}(?:\.\d+)?)=(\d+(?:\.\d+)?)(ms|s)$/;

/** Throws a CliError if it has another form. */
export function parseAssertion(text: string): Assertion {
  const [, named = '', percent, amount, unit] = FORM.exec(text) ?? [];
  if (percent === undefined || Number(percent) === 0) {
    throw new CliError(
      `--assert: '${text}' must have a form such as p99=50ms, or http:p99=50ms for some cases.`,
    );
  }
  return { text, named, share: Number(percent) / 100, ms: Number(amount) * (unit === 's' ? 1000 : 1) };
}

/** Returns a line for each case that fails, and for each assertion about no case at all. */
export function checkAssertions(cases: readonly Case[], assertions: readonly Assertion[]): string[] {
  const latencies = cases.filter(
    ({ unit, ofService, better }) => unit === 'ms' && ofService && better === 'lower',
  );
  return assertions.flatMap((assertion) => {
    const about = latencies.filter((entry) => keyOf(entry).includes(assertion.named));
    if (about.length === 0) return [`${assertion.text}: no latency was measured that it is about.`];
    return about.flatMap((entry) => failureOf(entry, assertion));
  });
}

function failureOf(entry: Case, { text, share, ms }: Assertion): string[] {
  const { value, enough, count } = percentileOf(entry, share);
  // The largest of a few is above most of what it stands for. So it can fail, but not pass.
  if (value > ms) return [`${text}: ${keyOf(entry)} took ${figure(value)} ms.`];
  return enough
    ? []
    : [`${text}: ${keyOf(entry)} has ${count} runs, and this percentile needs ${runsFor(share)}.`];
}
