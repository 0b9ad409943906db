import { escaped } from '../../src/http/docs/markup.ts';
import { readResult, writable, writeFile } from '../result/file.ts';
import type { Result } from '../result/schema.ts';
import { percentileOf } from '../series.ts';
import { median, runsFor } from '../statistics.ts';
import { figure, short } from '../table.ts';
import { cards, eventsAsked, isSmall } from './cards.ts';
import { plain } from './draw.ts';
import { htmlTable, STYLE, section } from './html.ts';
import { distributionPlot, ingestPlot, latencyByRatePlots, soakPlots, throughputPlot } from './load-plots.ts';
import { type Cases, ratioPlot, scalePlot, spreadPlot, storagePlot, timesPlot } from './store-plots.ts';
import { usualWays } from './usual.ts';

export function writePage(result: Result, file: string): void {
  writeFile(file, pageOf(result));
}

/** Makes the page of a file. */
export function report(file: string, html: string): void {
  writePage(readResult(file), writable('--html', html));
  console.error(`Wrote ${html}`);
}

/** One page: text, tables and plots. It needs no scripts, and loads nothing. */
export function pageOf(result: Result): string {
  const { cases, environment, startedAt, notes } = result;
  const where = environment.target ?? 'a service on this machine';
  const remarks = [
    ...(result.complete ? [] : ['The run was interrupted. This is what it had measured.']),
    ...notes,
    ...sizeRemarks(result),
  ];
  const busy = environment.loadBefore > environment.cores / 2;
  if (busy)
    remarks.push(
      `The machine was busy before the run (load ${environment.loadBefore}), so times are too long.`,
    );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>session-analytics bench</title><style>${STYLE}</style></head><body>
<h1>session-analytics: benchmark</h1>
<p>${escaped(where)}, ${startedAt.slice(0, 16).replace('T', ' ')} UTC, <code>${escaped(result.command)}</code></p>
${remarks.map((remark) => `<div class="note">${escaped(remark)}</div>`).join('\n')}
${cards(cases)}
${sections(cases)}
${section('Environment', 'Where this was measured. Results of different machines cannot be compared.', environmentTable(result))}
${section('All cases', `Every series with its runs. A percentile needs enough runs: ${runsFor(0.99)} for p99.`, allCases(cases))}
</body></html>
`;
}

/** What the measures of questions are. */
const MEANINGS: Readonly<Record<string, string>> = {
  polled: 'Polled: asked before, other milliseconds each time.',
  kept: 'Kept: the same question again, and nothing new, so everything that it needs is kept.',
  first: 'First: with empty caches.',
  live: 'Live: just after events arrived.',
  storing: 'Storing: while events are stored all the time, each time when more were acknowledged.',
  late: 'Late: just after events arrived, some of them hours late.',
  raw: 'Raw: the same figures from raw events, as an expert would write the query.',
  computed: 'Computed: about a range that nobody has asked about, or without a range, after a new event.',
  unchanged: 'Unchanged: the same again, with its ETag (304).',
};

/** Explains the measures that there are. */
function meanings(cases: Cases): string {
  const measures = new Set(cases.filter(({ bench }) => bench === 'queries').map(({ measure }) => measure));
  return Object.entries(MEANINGS)
    .filter(([measure]) => measures.has(measure))
    .map(([, says]) => says)
    .join(' ');
}

function sections(cases: Cases): string {
  const times = meanings(cases);
  return [
    section('Questions that end now', times, timesPlot(cases, 'ending now'), timesPlot(cases, 'fixed')),
    section('Questions about the past', `${times} Both ends lie inside an hour.`, timesPlot(cases, 'ragged')),
    section(
      'Spread of the runs',
      'Box: the middle half of the runs. Whiskers: the fastest and the slowest.',
      spreadPlot(cases, 'ending now'),
    ),
    section(
      'Ratio to raw',
      'How many times longer the raw question takes than a first question of the service, with equal answers. It grows with the data: see Time against data size. Below 1, raw events are counted faster, as those of small data are.',
      ratioPlot(cases),
    ),
    section(
      'Time against data size',
      'Solid: a first question. Dashed: raw. From the first size to the second, the traffic grows tenfold; from the second to the third, the range.',
      scalePlot(cases),
    ),
    section(
      'Beside the usual ways',
      'The same figures on the same data in the same engine: exact from raw events; with the approximate function uniq; from hourly rollups of uniqState in UTC hours, as many products keep them. The range begins and ends inside an hour. Error: the sum of all differences by the sum of the exact figures. The times of the service are those of the whole answer that has the figure.',
      ...usualWays(cases),
    ),
    section(
      'Throughput',
      'Requests per second at full speed, and those of a route that only sends the same bytes. For a 304 and a cached 200 nothing is computed, nor for polling without new events. While events arrive, each event makes all answers of its app new.',
      throughputPlot(cases),
    ),
    section(
      'Throughput against latency',
      'An open loop: requests are sent when they are due, and latency counts from then (no coordinated omission).',
      ...latencyByRatePlots(cases),
    ),
    section(
      'Distribution of latency',
      'All latencies of a load, as far as the number of answers allows.',
      distributionPlot(cases),
    ),
    section(
      'Ingestion',
      'Acknowledged events: stored durably, in all views, and counted by the next question.',
      ingestPlot(cases),
    ),
    section('Storage by kind', 'Bytes on disk per event, compressed.', storagePlot(cases)),
    section(
      'Steady load over time',
      'Each point is a stretch of the soak. Nothing should grow in the second half. The verdict is about that half.',
      ...soakPlots(cases),
    ),
  ].join('\n');
}

/** What the size of the data means for the figures. */
function sizeRemarks({ cases, environment }: Result): string[] {
  const events = eventsAsked(cases);
  if (events === null || !isSmall(events)) return [];
  const how =
    environment.target === null
      ? 'For figures to decide with, measure with --standard or --full.'
      : 'For large data, measure a machine of the same kind with bench suite --standard.';
  return [
    `The questions are about ${short(events)} events. With so few, most of the time is the fixed cost of a statement and of HTTP, and raw events are counted about as fast as anything. ${how}`,
  ];
}

function environmentTable({ environment, startedAt, endedAt }: Result): string {
  const { cpu, cores, memoryGiB, system, node, engine, version, commit, loadBefore, loadAfter } = environment;
  return htmlTable(
    ['what', 'value'],
    [
      ['processor', `${cpu}, ${cores} cores`],
      ['memory', `${memoryGiB} GiB`],
      ['system', system],
      ['Node', node],
      ['engine', engine ?? 'not installed'],
      ['session-analytics', commit === null ? version : `${version}, commit ${commit}`],
      ['load before, after', `${loadBefore}, ${loadAfter}`],
      ['from, to', `${startedAt}, ${endedAt}`],
    ],
    2,
  );
}

function allCases(cases: Cases): string {
  const rows = cases.map((entry) => {
    const { bench, name, measure, unit, runs, exact, ofService } = entry;
    const p99 = percentileOf(entry, 0.99);
    const isTime = unit === 'ms';
    return [
      bench,
      name,
      ofService ? measure : `${measure} (baseline)`,
      unit,
      String(isTime ? p99.count : runs.length),
      plainFigure(isTime ? percentileOf(entry, 0.5).value : median(runs)),
      !isTime ? '' : p99.enough ? figure(p99.value) : 'too few runs',
      `${plainFigure(Math.min(...runs))} – ${plainFigure(Math.max(...runs))}`,
      exact === null ? '' : exact ? 'yes' : 'NO',
    ];
  });
  const header = ['bench', 'case', 'measure', 'unit', 'runs', 'median', 'p99', 'runs from – to', 'exact'];
  return htmlTable(header, rows, 4);
}

const plainFigure = (value: number): string => (value >= 10_000 ? plain(Math.round(value)) : figure(value));
