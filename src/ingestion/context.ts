import { z } from 'zod';
import { cleanText } from './text.ts';

export interface Place {
  readonly country: string;
  readonly region: string;
  readonly city: string;
  /** Degrees, or both null. */
  readonly latitude: number | null;
  readonly longitude: number | null;
}

/** What a session brought along, cut to size; '' is absent. */
export interface Context {
  readonly referrer: string;
  readonly source: string;
  readonly medium: string;
  readonly campaign: string;
  readonly term: string;
  readonly content: string;
  readonly language: string;
  readonly screen: string;
  /** Null: not said, so the request's own counts. */
  readonly userAgent: string | null;
  readonly location: Place | null;
}

/** Lengths in code points, after control characters were stripped. */
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

const text = (max: number) =>
  z
    .string()
    .nullish()
    .transform((value) => (typeof value === 'string' ? cleanText(value, max) : ''));

const Utm = z.object({
  source: text(MAX_LENGTH.utm),
  medium: text(MAX_LENGTH.utm),
  campaign: text(MAX_LENGTH.utm),
  term: text(MAX_LENGTH.utm),
  content: text(MAX_LENGTH.utm),
});

const Location = z
  .object({
    country: text(MAX_LENGTH.place),
    region: text(MAX_LENGTH.place),
    city: text(MAX_LENGTH.place),
    latitude: z.unknown().optional(),
    longitude: z.unknown().optional(),
  })
  .transform((place): Place => ({ ...place, ...coordinates(place.latitude, place.longitude) }));

const NO_UTM = { source: '', medium: '', campaign: '', term: '', content: '' };

/** A session's `context`; a field of the wrong type fails it, null counts as absent. */
export const ContextSchema = z
  .object({
    referrer: text(MAX_LENGTH.referrer),
    utm: Utm.nullish(),
    language: text(MAX_LENGTH.language),
    screen: text(MAX_LENGTH.screen),
    userAgent: z.string().nullish(),
    location: Location.nullish(),
  })
  .transform(
    ({ utm, userAgent, location, language, ...rest }): Context => ({
      ...rest,
      ...(utm ?? NO_UTM),
      language: canonicalLanguage(language),
      userAgent: typeof userAgent === 'string' ? cleanText(userAgent, MAX_LENGTH.userAgent) : null,
      location: location ?? null,
    }),
  );

export const NO_CONTEXT: Context = {
  ...NO_UTM,
  referrer: '',
  language: '',
  screen: '',
  userAgent: null,
  location: null,
};

/** Both or none: a coordinate that is out of range or alone says nothing about a place. */
export function coordinates(latitude: unknown, longitude: unknown): Pick<Place, 'latitude' | 'longitude'> {
  const known = within(latitude, 90) && within(longitude, 180);
  // `+ 0` makes -0 a 0: they are one place.
  return known ? { latitude: latitude + 0, longitude: longitude + 0 } : { latitude: null, longitude: null };
}

const within = (value: unknown, limit: number): value is number =>
  typeof value === 'number' && Math.abs(value) <= limit;

const canonical = new Map<string, string>();

/** A BCP 47 tag in its canonical form, '' when it is none. */
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
  // Senders choose the tags: a full table is emptied rather than left to grow.
  if (canonical.size >= 2_000) canonical.clear();
  canonical.set(tag, language);
  return language;
}
