import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { z } from 'zod';

/* What `deploy/` has for the operator's Prometheus and Grafana. */

export const RULES = 'deploy/prometheus/rules.yml';

const Rules = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(
        z.object({
          record: z.string().optional(),
          alert: z.string().optional(),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.record(z.string(), z.string()).default({}),
          annotations: z.record(z.string(), z.string()).default({}),
        }),
      ),
    }),
  ),
});
export type Rule = z.infer<typeof Rules>['groups'][number]['rules'][number];

export const rules = (): Rule[] =>
  Rules.parse(parse(readFileSync(RULES, 'utf8'))).groups.flatMap((group) => group.rules);

export const alerts = (): (Rule & { readonly alert: string })[] =>
  rules().flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]));

const Source = z.object({ type: z.literal('prometheus'), uid: z.string() });
const Panel = z.object({
  id: z.number(),
  type: z.string(),
  title: z.string(),
  datasource: Source.optional(),
  targets: z.array(z.object({ refId: z.string(), expr: z.string(), datasource: Source })).default([]),
});
const Dashboard = z.object({
  annotations: z.object({ list: z.array(z.object({ expr: z.string(), datasource: Source })) }),
  templating: z.object({
    list: z.array(z.object({ name: z.string(), type: z.string(), datasource: Source.optional() })),
  }),
  panels: z.array(Panel),
});
export type Dashboard = z.infer<typeof Dashboard>;

export const dashboard = (): Dashboard =>
  Dashboard.parse(JSON.parse(readFileSync('deploy/grafana/dashboard.json', 'utf8')));

/** The queries of the dashboard's panels, as Grafana sends them: for all processes, with this interval. */
export const panelQueries = (interval: string): { readonly title: string; readonly expr: string }[] =>
  dashboard().panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({
      title,
      expr: expr.replaceAll('$__rate_interval', interval).replaceAll(/\$(job|instance)\b/g, '.+'),
    })),
  );

/** The names of the series that an expression selects. Throws if it is no PromQL. */
export function seriesOf(expr: string): string[] {
  const names: string[] = [];
  parser.parse(expr).iterate({
    enter: ({ type, node, from, to }) => {
      if (type.isError) throw new Error(`no PromQL at ${from}: ${expr}`);
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector')
        names.push(expr.slice(from, to));
    },
  });
  return names;
}

/** The names of the series that a process can have, from its OpenMetrics text: also those without a sample. */
export function seriesIn(openMetrics: string): Set<string> {
  const suffixes: Readonly<Record<string, readonly string[]>> = {
    counter: ['_total'],
    histogram: ['_bucket', '_count', '_sum'],
    summary: ['', '_count', '_sum'],
  };
  const types = [...openMetrics.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    types.flatMap(([, name = '', type = '']) => (suffixes[type] ?? ['']).map((end) => name + end)),
  );
}
