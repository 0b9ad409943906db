import { cleanText } from './text.ts';

export interface Place {
  readonly country: string;
  readonly region: string;
  readonly city: string;
  /** Degrees, or both null. */
  readonly latitude: number | null;
  readonly longitude: number | null;
}

/** The context of a session, cut to size. '' is absent. */
export interface Context {
  readonly referrer: string;
  readonly source: string;
  readonly medium: string;
  readonly campaign: string;
  readonly term: string;
  readonly content: string;
  readonly language: string;
  readonly screen: string;
  /** Null: absent, so the user agent of the request counts. */
  readonly userAgent: string | null;
  readonly location: Place | null;
}

/** The longest texts, in code points, without control characters and, but for paths, without blanks at their ends. */
export const MAX_LENGTH = {
  path: 2048,
  referrer: 2048,
  message: 1024,
  userAgent: 1024,
  target: 512,
  name: 512,
  utm: 256,
  place: 256,
  language: 35,
  screen: 16,
} as const;

const NO_CONTEXT: Context = {
  source: '',
  medium: '',
  campaign: '',
  term: '',
  content: '',
  referrer: '',
  language: '',
  screen: '',
  userAgent: null,
  location: null,
};

type Fields = Readonly<Record<string, unknown>>;

/** Thrown within this file: names the field of the context with the wrong type. */
class WrongField {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** Returns a session's `context`, or a message about a field of the wrong type. Null counts as absent. */
export function readContext(sent: unknown): Context | string {
  if (sent === undefined || sent === null) return NO_CONTEXT;
  try {
    return contextOf(fieldsOf(sent, 'context'));
  } catch (error) {
    if (error instanceof WrongField) return error.message;
    throw error;
  }
}

function contextOf(context: Fields): Context {
  const { utm: sentUtm = null, userAgent = null, location = null } = context;
  const utm = sentUtm === null ? null : fieldsOf(sentUtm, 'context.utm');
  const utmPart = (name: string): string =>
    utm === null ? '' : textOf(utm[name], MAX_LENGTH.utm, 'context.utm', name);
  const own = (name: 'referrer' | 'language' | 'screen' | 'userAgent'): string =>
    textOf(context[name], MAX_LENGTH[name], 'context', name);
  return {
    referrer: own('referrer'),
    source: utmPart('source'),
    medium: utmPart('medium'),
    campaign: utmPart('campaign'),
    term: utmPart('term'),
    content: utmPart('content'),
    language: canonicalLanguage(own('language')),
    screen: own('screen'),
    userAgent: userAgent === null ? null : own('userAgent'),
    location: location === null ? null : placeOf(fieldsOf(location, 'context.location')),
  };
}

function placeOf(location: Fields): Place {
  const name = (field: string): string =>
    textOf(location[field], MAX_LENGTH.place, 'context.location', field);
  return {
    country: name('country'),
    region: name('region'),
    city: name('city'),
    ...coordinates(location['latitude'], location['longitude']),
  };
}

function fieldsOf(value: unknown, path: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new WrongField(`${path}: must be an object.`);
}

function textOf(value: unknown, max: number, path: string, name: string): string {
  if (typeof value === 'string') return cleanText(value, max);
  if (value === undefined || value === null) return '';
  throw new WrongField(`${path}.${name}: must be a string.`);
}

/** Both or none: a coordinate that is alone or out of range says nothing about a place. */
export function coordinates(latitude: unknown, longitude: unknown): Pick<Place, 'latitude' | 'longitude'> {
  const known = within(latitude, 90) && within(longitude, 180);
  // `+ 0` turns -0 into 0: both are one place.
  return known ? { latitude: latitude + 0, longitude: longitude + 0 } : { latitude: null, longitude: null };
}

const within = (value: unknown, limit: number): value is number =>
  typeof value === 'number' && Math.abs(value) <= limit;

const canonical = new Map<string, string>();

/** Returns a BCP 47 tag in its canonical form, or '' if the text is none. */
export function canonicalLanguage(tag: string): string {
  if (tag === '') return '';
  const known = canonical.get(tag);
  if (known !== undefined) return known;
  let language = '';
  try {
    language = Intl.getCanonicalLocales(tag)[0] ?? '';
  } catch {
    // Not a language tag: absent.
  }
  // Senders choose the tags, so a full cache is emptied rather than left to grow.
  if (canonical.size >= 2_000) canonical.clear();
  canonical.set(tag, language);
  return language;
}
