import { expect, test } from 'vitest';
import { trimBlanks } from '../../src/domain/blank.ts';
import { lowerAscii } from '../../src/domain/fold.ts';
import { epochMs } from '../../src/domain/time.ts';
import { sessionColumns } from '../../src/ingestion/journal-rows.ts';
import { validateSessions } from '../../src/ingestion/validate.ts';
import { AppName } from '../../src/metadata/names.ts';

/** Characters that nobody sees at the end of a text. */
const BLANKS = [
  ...' \t\n\r\v\f\u0085\u00a0\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
  ...'\u00ad\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f\ufff0\ufff8',
  ...'\u061c\u180e\u200b\u200c\u200e\u200f\u202a\u202c\u202e\u2060\u2066\u2069\u2800\u3164\uffa0',
];
const AT = '2026-11-20T10:00:00Z';
const TEXTS = ['newsletter', 'two  words', 'نیم\u200cفاصله', '\u{1f600}'];

const stored = (session: object): Record<string, unknown> => {
  const sent = { id: 's', visitorId: 'v', startedAt: AT, events: [], ...session };
  const rules = { now: epochMs(Date.parse(AT)), maxAgeDays: null, userAgent: '' };
  const [valid] = validateSessions([sent], rules).sessions;
  if (valid === undefined) return {};
  const app = { domain: 'https://shop.example' } as never;
  return JSON.parse(`{${sessionColumns(valid, { app, place: null })}`);
};
const event = (fields: object) => ({ type: 'pageview', timestamp: AT, path: '/', ...fields });
const whole = (context: object) => stored({ context, events: [event({})] });

/** Each text of a session, how it is sent and how it is stored. Paths are stored as they were requested. */
const FIELDS: Readonly<Record<string, (text: string) => unknown>> = {
  'utm.source': (source) => whole({ utm: { source } })['utm_source'],
  'utm.medium': (medium) => whole({ utm: { medium } })['utm_medium'],
  'utm.campaign': (campaign) => whole({ utm: { campaign } })['utm_campaign'],
  'utm.term': (term) => whole({ utm: { term } })['utm_term'],
  'utm.content': (content) => whole({ utm: { content } })['utm_content'],
  country: (country) => whole({ location: { country } })['country'],
  region: (region) => whole({ location: { region } })['region'],
  city: (city) => whole({ location: { city } })['city'],
  screen: (screen) => whole({ screen })['screen'],
  referrer: (referrer) => whole({ referrer })['referrer'],
  userAgent: (userAgent) => whole({ userAgent })['user_agent'],
  target: (target) =>
    (stored({ events: [event({ type: 'click', target })] })['labels'] as string[] | undefined)?.[0],
  name: (name) =>
    (stored({ events: [event({ type: 'custom', name })] })['labels'] as string[] | undefined)?.[0],
  message: (message) =>
    (stored({ events: [event({ type: 'error', message })] })['labels'] as string[] | undefined)?.[0],
};

test.each(Object.entries(FIELDS))(
  '%s: blanks at its ends are not stored, and blanks alone are no value',
  (_, storedOf) => {
    for (const blank of BLANKS) {
      const shown = JSON.stringify(blank);
      for (const text of TEXTS) {
        expect(storedOf(`${blank}${text}${blank}${blank}`), shown).toBe(text);
      }
      expect([undefined, ''], shown).toContain(storedOf(blank + blank));
    }
  },
);

test('what is cut ends with no blank either', () => {
  const source = `${'x'.repeat(200)}${'\u00a0'.repeat(100)}end`;
  expect(whole({ utm: { source } })['utm_source']).toBe('x'.repeat(200));
});

test('a language and the host of a referrer are found between blanks', () => {
  expect(whole({ language: '\u00a0fa-ir ' })['language']).toBe('fa-IR');
  const { referrer_host: host, source_signal: source } = whole({
    referrer: '\u200bhttps://www.google.com/\u00a0',
    utm: { source: '\u3000Newsletter\u200f' },
  });
  expect([host, source]).toEqual(['google.com', whole({ utm: { source: 'newsletter' } })['source_signal']]);
});

test('a path is stored as it was requested', () => {
  expect(stored({ events: [event({ path: '/a\u00a0' })] })['paths']).toEqual(['/a\u00a0']);
});

test('an event without a visible name or message is refused', () => {
  for (const fields of [
    { type: 'custom', name: '\u00a0\u200b' },
    { type: 'error', message: ' \u3000' },
  ]) {
    const rules = { now: epochMs(Date.parse(AT)), maxAgeDays: null, userAgent: '' };
    const sent = { id: 's', visitorId: 'v', startedAt: AT, events: [event(fields)] };
    expect(validateSessions([sent], rules).rejected).toMatchObject([{ event: 0, code: 'invalid_event' }]);
  }
});

test('the name of an app is one', () => {
  expect(AppName.parse('\u200b\u00a0Shop\u3000\u200f')).toBe('Shop');
  expect(AppName.safeParse('\u200b\u2800').success).toBe(false);
});

test('what changes the character before it stays', () => {
  const flag = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}';
  for (const text of ['ه\u200d', '\u2764\ufe0f', flag, '\u8fbb\u{e0100}']) {
    expect(trimBlanks(` ${text} `)).toBe(text);
  }
});

test('only letters of ASCII are folded', () => {
  expect(lowerAscii('KLAVIYO \u212a\u0130É')).toBe('klaviyo \u212a\u0130É');
  const signal = (source: string) => whole({ utm: { source } })['source_signal'];
  expect(signal('KLAVIYO')).toBe(signal('klaviyo'));
  expect(signal('\u212alaviyo')).toBe(signal('some campaign'));
});

test('whatever is drawn as nothing is blank, also after a character of ASCII', () => {
  const wrong: string[] = [];
  for (let code = 0; code < 0x110000; code++) {
    const char = String.fromCodePoint(code);
    if (!/[\s\p{Z}\p{Default_Ignorable_Code_Point}]/u.test(char)) continue;
    const found = [`${char}a`, `a${char}`, `${char}a${char} ${char}`].map(trimBlanks);
    if (trimBlanks(char) !== '' || found.some((text) => text !== 'a')) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});
