import { escaped } from '../../src/http/docs/markup.ts';
import type { Case } from '../result/schema.ts';
import { percentileOf } from '../series.ts';
import { median } from '../statistics.ts';
import { figure, short } from '../table.ts';
import { plain } from './draw.ts';
import { type Cases, only } from './store-plots.ts';

interface Card {
  readonly value: string;
  readonly says: string;
  readonly isBad?: boolean;
}

/** With fewer events, any way to count takes milliseconds. */
const LARGE_EVENTS = 1_000_000;

/** The number of events that the questions are about; null if none were asked. */
export function eventsAsked(cases: Cases): number | null {
  const events = cases.flatMap(({ bench, labels }) =>
    bench === 'queries' && typeof labels['events'] === 'number' ? [labels['events']] : [],
  );
  return events.length === 0 ? null : Math.min(...events);
}

export const isSmall = (events: number | null): boolean => events !== null && events < LARGE_EVENTS;

/** The figures to decide with, as far as they were measured. Each says what it is about. */
export function cards(cases: Cases): string {
  const told = [exactCard(cases), ...questionCards(cases), ...ratioCard(cases), ...loadCards(cases)];
  const shown = told.map(
    ({ value, says, isBad = false }) =>
      `<div class="card${isBad ? ' bad' : ''}"><b>${escaped(value)}</b><span>${escaped(says)}</span></div>`,
  );
  return `<div class="cards">${shown.join('')}</div>`;
}

function exactCard(cases: Cases): Card {
  const compared = cases.filter(({ exact }) => exact !== null);
  const wrong = compared.filter(({ exact }) => exact === false).length;
  if (compared.length === 0)
    return { value: 'None', says: 'of the answers were compared with the exact count' };
  return wrong > 0
    ? {
        value: `${wrong} wrong`,
        says: `of ${compared.length} series that were compared with the exact count`,
        isBad: true,
      }
    : {
        value: `${compared.length} of ${compared.length}`,
        says: 'series that were compared had exact answers',
      };
}

/** Ranges that are never the same twice, so that no answer about them is kept. */
const MOVING = ['ragged', 'ending now'];
const isMoving = ({ labels }: Case): boolean => MOVING.includes(String(labels['range']));
/** Answers about a range without ends are kept until the next event. Early results do not say whether there was one. */
const isComputed = (entry: Case): boolean => entry.labels['asked'] !== undefined || isMoving(entry);

const inRange = (cases: Cases, measure: string): Case[] =>
  only(cases, 'queries', measure).filter(({ labels }) => labels['range'] !== 'aligned');

function questionCards(cases: Cases): Card[] {
  const events = eventsAsked(cases);
  const size = events === null ? '' : `, ${short(events)} events`;
  const card = (measure: string, says: string, counts: (entry: Case) => boolean = () => true): Card[] => {
    const found = inRange(cases, measure).filter(counts);
    const middle = median(found.map(({ runs }) => median(runs)));
    return found.length === 0
      ? []
      : [{ value: `${figure(middle)} ms`, says: `median question${says}${size}` }];
  };
  return [
    ...card('polled', ', polled at other milliseconds each time', isMoving),
    ...card('first', ', with empty caches'),
    ...card('computed', ' over HTTP, computed', isComputed),
    ...card('unchanged', ' over HTTP, unchanged (304)'),
    ...card('live', ', just after events'),
  ];
}

/** Of small data, a ratio is no figure to decide with. */
function ratioCard(cases: Cases): Card[] {
  const events = eventsAsked(cases);
  const firsts = inRange(cases, 'first');
  const ratios = inRange(cases, 'raw').flatMap(({ name, runs }) => {
    const first = firsts.find((entry) => entry.name === name);
    return first === undefined ? [] : [median(runs) / median(first.runs)];
  });
  if (ratios.length === 0 || events === null || isSmall(events)) return [];
  const ratio = median(ratios);
  const [value, word] = ratio < 1 ? [1 / ratio, 'slower'] : [ratio, 'faster'];
  const says = `${word} than raw at ${short(events)} events (median, first questions)`;
  return [{ value: `${figure(value)}×`, says, isBad: ratio < 1 }];
}

function loadCards(cases: Cases): Card[] {
  const best = (bench: string, says: string, counts: (name: string) => boolean = () => true): Card[] => {
    const own = only(cases, bench, 'throughput')
      .filter(({ name }) => counts(name))
      .map(({ name, runs }) => ({ name, perSecond: median(runs) }));
    const [fastest] = own.sort((a, b) => b.perSecond - a.perSecond);
    if (fastest === undefined) return [];
    return [{ value: `${plain(Math.round(fastest.perSecond))}/s`, says: `${says}: ${fastest.name}` }];
  };
  const loads = only(cases, 'http', 'latency').map((entry) => ({ entry, p99: percentileOf(entry, 0.99) }));
  const load = loads.filter(({ p99, entry }) => p99.enough && !entry.name.endsWith('90 %')).at(-1);
  const isFed = (name: string): boolean =>
    name.includes('while events arrive') && !name.includes('max-stale');
  return [
    ...best('http', 'requests at full speed, the best case'),
    ...best('http', 'requests at full speed', isFed),
    ...(load === undefined
      ? []
      : [{ value: `${figure(load.p99.value)} ms`, says: `p99: ${load.entry.name}` }]),
    ...best('ingest', 'events stored, the best case'),
  ];
}
