import { escaped } from '../../src/http/docs/markup.ts';
import { readResult, writable, writeFile } from '../result/file.ts';
import type { Case, Result } from '../result/schema.ts';
import { percentileOf } from '../series.ts';
import { median, runsFor } from '../statistics.ts';
import { figure } from '../table.ts';
import { plain } from './draw.ts';
import { htmlTable, STYLE, section } from './html.ts';
import { distributionPlot, ingestPlot, latencyByRatePlots, soakPlots, throughputPlot } from './load-plots.ts';
import { type Cases, only, ratioPlot, scalePlot, spreadPlot, storagePlot, timesPlot } from './store-plots.ts';
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

function sections(cases: Cases): string {
  const times =
    'Polled: asked before, other milliseconds each time. First: with empty caches. Live: just after events arrived. Storing: while events are stored all the time. Late: just after events arrived, some of them hours late. Raw: the same figures from raw events, as an expert would write the query. Over HTTP: computed for a range that nobody has asked about, and unchanged since the last answer.';
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
      'How many times longer the raw question takes than a first question of the service, with equal answers.',
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
      'Requests per second at full speed, and those of a route that only sends the same bytes.',
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

/** The figures to decide with, as far as they were measured. */
function cards(cases: Cases): string {
  const compared = cases.filter(({ exact }) => exact !== null);
  const wrong = compared.filter(({ exact }) => exact === false).length;
  const middle = (found: readonly Case[]): number => median(found.map(({ runs }) => median(runs)));
  const inRange = (measure: string): Case[] =>
    only(cases, 'queries', measure).filter(({ labels }) => labels['range'] !== 'aligned');
  const ratios = inRange('raw').flatMap(({ name, runs }) => {
    const first = inRange('first').find((entry) => entry.name === name);
    return first === undefined ? [] : [median(runs) / median(first.runs)];
  });
  const fastest = (bench: string): number =>
    Math.max(...only(cases, bench, 'throughput').map(({ runs }) => median(runs)));
  const loads = only(cases, 'http', 'latency').map((entry) => ({ entry, p99: percentileOf(entry, 0.99) }));
  const load = loads.filter(({ p99, entry }) => p99.enough && !entry.name.endsWith('90 %')).at(-1);
  const told: (readonly [string, string, boolean?])[] = [
    wrong > 0
      ? [`${wrong} wrong`, `of ${compared.length} series that were compared with the exact count`, true]
      : [`${compared.length} of ${compared.length}`, 'series that were compared had exact answers'],
    [`${figure(middle(inRange('polled')))} ms`, 'median question, polled'],
    [`${figure(middle(inRange('first')))} ms`, 'median question, with empty caches'],
    [`${figure(middle(inRange('computed')))} ms`, 'median question over HTTP, computed'],
    [`${figure(middle(inRange('unchanged')))} ms`, 'median question over HTTP, unchanged'],
    [`${figure(middle(inRange('live')))} ms`, 'median question, just after events'],
    [`${figure(median(ratios))}×`, 'faster than raw (median, first questions)'],
    [`${plain(Math.round(fastest('http')))}/s`, 'requests at full speed, the best case'],
    [`${figure(load?.p99.value ?? Number.NaN)} ms`, `p99: ${load?.entry.name ?? ''}`],
    [`${plain(Math.round(fastest('ingest')))}/s`, 'events stored, the best case'],
  ];
  const shown = told.filter(([value]) => !/^(NaN|-|0 of 0|-?∞|-Infinity)/.test(value));
  return `<div class="cards">${shown
    .map(
      ([value, says, bad]) =>
        `<div class="card${bad ? ' bad' : ''}"><b>${escaped(value)}</b><span>${escaped(says)}</span></div>`,
    )
    .join('')}</div>`;
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
