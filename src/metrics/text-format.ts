const TYPE = /^# TYPE (\S+) counter$/;
const ABOUT = /^# (?:HELP|TYPE) (\S+)/;
/** The labels of an exemplar hold no braces: they are ids of requests. */
const EXEMPLAR = / # \{[^{}]*\} \S+ \S+$/;

/**
 * Turns OpenMetrics into Prometheus' text format 0.0.4. There a counter's name ends in `_total` also where it is described,
 * and nothing stands for exemplars and the end. The library writes this format wrongly for metrics that it has written in
 * OpenMetrics before: it takes `_total` from their names.
 */
export function asTextFormat(openMetrics: string): string {
  const lines = openMetrics.split('\n').filter((line) => line !== '# EOF');
  const counters = new Set(lines.map((line) => TYPE.exec(line)?.[1]));
  return lines
    .map((line) => {
      if (!line.startsWith('#')) return line.replace(EXEMPLAR, '');
      const name = ABOUT.exec(line)?.[1];
      return name !== undefined && counters.has(name) ? line.replace(name, `${name}_total`) : line;
    })
    .join('\n');
}
