import { tehranTime } from '../analytics/range/tehran.ts';
import { DAY_MS, type EpochMs, epochMs, MINUTE_MS, toIso } from '../domain/time.ts';
import { type Random, seededRandom } from './random.ts';
import {
  ACTIONS,
  BROWSERS,
  type Browser,
  ERRORS,
  PAGES,
  type Page,
  PLACES,
  type Place,
  type Properties,
  SOURCES,
  type Source,
} from './site.ts';

/** A session as sent to `POST /sdk/v1/events`. */
export interface Visit {
  readonly id: string;
  readonly visitorId: string;
  readonly startedAt: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly events: readonly VisitEvent[];
}

export interface VisitEvent {
  readonly type: 'pageview' | 'click' | 'error' | 'engagement' | 'custom';
  readonly timestamp: string;
  readonly path: string;
  readonly target?: string;
  readonly message?: string;
  readonly name?: string;
  readonly durationMs?: number;
  readonly properties?: Properties;
}

interface Visitor {
  readonly id: string;
  readonly browser: Browser;
  readonly screen: string;
  readonly language: string;
  /** Null if the place is unknown. */
  readonly place: Place | null;
}

export const DEMO_DAYS = 90;
const SEED = 20_260_320;
/** Half an hour: Tehran's hours start at UTC :30. */
const STEP_MS = 30 * MINUTE_MS;
const VISITS_PER_STEP = 13;
/** Weights by Tehran hour: quiet nights, a peak before noon and a higher one in the evening. */
const BY_HOUR = [
  0.5, 0.3, 0.2, 0.15, 0.15, 0.2, 0.4, 0.7, 1, 1.3, 1.45, 1.5, 1.4, 1.2, 1.1, 1.1, 1.2, 1.3, 1.4, 1.55, 1.7,
  1.75, 1.4, 0.9,
];
/** Weights by ISO weekday: the week starts on Saturday; Thursday and Friday are the weekend. */
const BY_WEEKDAY = [1.1, 1.1, 1.05, 0.75, 0.6, 1, 1.1];

/**
 * Yields visits with starts from `start` to `until`, in this order, without events after `until`. The same
 * `start` gives the same visits; a later `until` only adds to them.
 */
export function* visits(start: EpochMs, until: EpochMs): Generator<Visit> {
  const random = seededRandom(SEED);
  const visitors = new Visitors(random);
  let count = 0;
  for (let step = start; step <= until; step = epochMs(step + STEP_MS)) {
    const starts = startsIn(step, start, random);
    for (const at of starts) {
      count += 1;
      // Always generated, even if not yielded: the next visits depend on the random numbers that it uses up.
      const visit = makeVisit(`demo-${count}`, at, visitors.next(), (at - start) / DAY_MS, random);
      if (at <= until)
        yield { ...visit, events: visit.events.filter((e) => Date.parse(e.timestamp) <= until) };
    }
  }
}

function startsIn(step: EpochMs, start: EpochMs, random: Random): EpochMs[] {
  const growth = 0.8 + (0.4 * (step - start)) / (DEMO_DAYS * DAY_MS);
  const { hour, weekday } = tehranTime(step);
  const rhythm = (BY_HOUR[hour] ?? 1) * (BY_WEEKDAY[weekday - 1] ?? 1);
  const expected = VISITS_PER_STEP * growth * rhythm * (0.8 + 0.4 * random.next());
  const count = Math.floor(expected + random.next());
  return Array.from({ length: count }, () => random.int(0, STEP_MS - 1))
    .sort((a, b) => a - b)
    .map((offset) => epochMs(step + offset));
}

/** New visitors and returning ones; recent visitors return more often. */
class Visitors {
  readonly #random: Random;
  readonly #known: Visitor[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  next(): Visitor {
    const random = this.#random;
    if (this.#known.length > 0 && random.chance(0.42)) {
      const back = Math.floor(random.exponential(this.#known.length / 6)) % this.#known.length;
      const known = this.#known[this.#known.length - 1 - back];
      if (known !== undefined) return known;
    }
    const place = random.weighted(PLACES);
    const browser = random.weighted(BROWSERS);
    const visitor = {
      id: `visitor-${this.#known.length + 1}`,
      browser,
      screen: random.pick(browser.screens),
      language: random.pick(place.languages),
      place: random.chance(0.06) ? null : place,
    };
    this.#known.push(visitor);
    return visitor;
  }
}

function makeVisit(id: string, at: EpochMs, visitor: Visitor, day: number, random: Random): Visit {
  const daysBeforeEnd = DEMO_DAYS - day;
  const source = random.weighted(
    SOURCES.filter(({ days }) => days === undefined || (daysBeforeEnd >= days[0] && daysBeforeEnd < days[1])),
  );
  return {
    id,
    visitorId: visitor.id,
    startedAt: toIso(at),
    context: contextOf(visitor, source),
    events: [...walk(at, random)],
  };
}

function contextOf(visitor: Visitor, { referrer, utm }: Source): Record<string, unknown> {
  const { place } = visitor;
  return {
    userAgent: visitor.browser.userAgent,
    screen: visitor.screen,
    language: visitor.language,
    ...(referrer === undefined ? {} : { referrer }),
    ...(utm === undefined ? {} : { utm }),
    // An empty place. Without it the service would look up the demo's own address.
    location:
      place === null
        ? {}
        : {
            country: place.country,
            region: place.region,
            city: place.city,
            latitude: place.latitude,
            longitude: place.longitude,
          },
  };
}

/** Yields the pages of a visit. About every third visitor leaves after the first page. */
function* walk(start: EpochMs, random: Random): Generator<VisitEvent> {
  const pages = random.chance(0.38) ? 1 : 2 + Math.min(28, Math.floor(random.exponential(2.2)));
  let at: number = start;
  for (let i = 0; i < pages; i++) {
    const page = random.weighted(PAGES);
    const stay = Math.min(20 * MINUTE_MS, 1_500 + Math.round(random.exponential(page.seconds * 1_000)));
    yield* onPage(page, at, stay, random);
    at += stay;
  }
}

function* onPage(page: Page, at: number, stay: number, random: Random): Generator<VisitEvent> {
  const { path } = page;
  const within = (): string => toIso(epochMs(at + random.int(500, stay)));
  yield { type: 'pageview', timestamp: toIso(epochMs(at)), path };
  if (page.targets.length > 0 && random.chance(0.3)) {
    yield { type: 'click', timestamp: within(), path, target: random.pick(page.targets) };
  }
  const action = ACTIONS[path];
  if (action !== undefined && random.chance(action.chance)) {
    const { name, properties = [] } = action;
    // Not by the random source: an interrupted demo of an earlier version goes on with the same visits.
    const own = properties[at % properties.length];
    yield {
      type: 'custom',
      timestamp: within(),
      path,
      name,
      ...(own === undefined ? {} : { properties: own }),
    };
  }
  if (random.chance(0.012)) {
    yield { type: 'error', timestamp: within(), path, message: random.weighted(ERRORS).message };
  }
  if (random.chance(0.8)) {
    const durationMs = Math.round(stay * (0.5 + 0.5 * random.next()));
    yield { type: 'engagement', timestamp: toIso(epochMs(at + stay)), path, durationMs };
  }
}
