import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { alerts, RULES } from '../support/watching.ts';

const TESTS = 'deploy/prometheus/rules.test.yml';

test.each([
  ['check rules', RULES],
  ['check config', 'deploy/prometheus/prometheus.yml'],
  ['test rules', TESTS],
])('promtool %s %s', (command, file) => {
  const { status, stdout, stderr } = spawnSync('promtool', [...command.split(' '), file], {
    encoding: 'utf8',
  });
  expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
});

test('each alert is tested while it fires, and while it does not', () => {
  const Tests = z.object({
    tests: z.array(
      z.object({
        alert_rule_test: z.array(z.object({ alertname: z.string(), exp_alerts: z.array(z.unknown()) })),
      }),
    ),
  });
  const cases = Tests.parse(parse(readFileSync(TESTS, 'utf8'))).tests.flatMap((each) => each.alert_rule_test);
  for (const { alert } of alerts()) {
    const ours = cases.filter(({ alertname }) => alertname === alert);
    expect(new Set(ours.map(({ exp_alerts }) => exp_alerts.length > 0)), alert).toEqual(
      new Set([true, false]),
    );
  }
});
