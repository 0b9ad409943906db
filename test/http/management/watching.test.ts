import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alerts, dashboard, panelQueries, rules, seriesIn, seriesOf } from '../../support/watching.ts';
import { type TestService, testService } from '../support.ts';

/* The dashboard, the alerts and the runbook fit each other and the service. Needs no Prometheus. */

const runbook = readFileSync('docs/runbook.md', 'utf8');
/** Prometheus has these itself. */
const PROMETHEUS_OWN = ['up', 'ALERTS'];

let service: TestService;
let known: Set<string>;

beforeAll(async () => {
  service = await testService();
  const text = await (await fetch(`${service.managementUrl}/metrics`)).text();
  const recorded = rules().flatMap(({ record }) => (record === undefined ? [] : [record]));
  known = new Set([...seriesIn(text), ...recorded, ...PROMETHEUS_OWN]);
});
afterAll(() => service?.close());

const unknownIn = (names: readonly string[]): string[] => names.filter((name) => !known.has(name));

describe('names', () => {
  test('every series of the alerts exists', () => {
    const names = rules().flatMap(({ expr }) => seriesOf(expr));
    expect(names.length).toBeGreaterThan(20);
    expect(unknownIn(names)).toEqual([]);
  });

  test('every series of the dashboard exists', () => {
    const annotations = dashboard().annotations.list.map(({ expr }) => expr);
    const names = [...panelQueries('5m').map(({ expr }) => expr), ...annotations].flatMap(seriesOf);
    expect(names.length).toBeGreaterThan(50);
    expect(unknownIn(names)).toEqual([]);
  });

  test('every series and every panel that the runbook names exists', () => {
    expect(unknownIn(runbook.match(/\b(analytics|nodejs|process)_\w+/g) ?? [])).toEqual([]);
    const panels = [...runbook.matchAll(/"([A-Z][^"]+)"/g)].map(([, title]) => title);
    expect(panels.length).toBeGreaterThan(10);
    const titles = dashboard().panels.map(({ title }) => title);
    expect(panels.filter((title) => !titles.includes(title ?? ''))).toEqual([]);
  });
});

describe('alerts', () => {
  test('each has a section of the runbook, and each section an alert', () => {
    const sections = [...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    expect([...sections].sort()).toEqual(
      alerts()
        .map(({ alert }) => alert)
        .sort(),
    );
  });

  test.each(alerts().map((rule) => [rule.alert, rule] as const))(
    '%s: complete, and links to its section',
    (name, rule) => {
      expect(rule.for).toMatch(/^\d+[mh]$/);
      expect(rule.labels['severity']).toMatch(/^(page|ticket)$/);
      expect(rule.annotations['summary']).toMatch(/^\S.*\.$/);
      expect(rule.annotations['runbook_url']).toBe(`docs/runbook.md#${name.toLowerCase()}`);
    },
  );

  test.each(alerts().map(({ alert }) => alert))(
    '%s: its section says what a person at night needs',
    (name) => {
      const section = runbook.split(/^## /m).find((text) => text.startsWith(`${name}\n`)) ?? '';
      const [means, cause, work, end] = [
        /\*\*Means\.\*\*/,
        /\*\*See the cause/,
        /\bdo\.\*\*/i,
        /\*\*Goes away\*\*/,
      ].map((part) => section.search(part));
      expect(Math.min(means ?? -1, cause ?? -1, work ?? -1, end ?? -1)).toBeGreaterThan(0);
      expect(cause).toBeGreaterThan(means ?? 0);
      expect(end).toBeGreaterThan(work ?? 0);
    },
  );

  test('links inside the runbook lead somewhere', () => {
    const anchors = [...runbook.matchAll(/^##+ (.+)$/gm)].map(([, title = '']) => title.toLowerCase());
    const links = [...runbook.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor);
    expect(links.filter((anchor) => !anchors.includes(anchor))).toEqual([]);
  });
});

test('the dashboard: ids are unique, and all data come from the datasource that its reader chooses', () => {
  const { panels, templating, annotations } = dashboard();
  const ids = panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(templating.list).toContainEqual(expect.objectContaining({ name: 'datasource', type: 'datasource' }));
  const sources = [
    ...panels.flatMap(({ type, datasource, targets }) =>
      type === 'row' ? [] : [datasource, ...targets.map((target) => target.datasource)],
    ),
    ...templating.list.filter(({ type }) => type === 'query').map(({ datasource }) => datasource),
    ...annotations.list.map(({ datasource }) => datasource),
  ];
  expect(new Set(sources.map((source) => source?.uid))).toEqual(new Set([`\${datasource}`]));
  for (const { targets } of panels)
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
});
