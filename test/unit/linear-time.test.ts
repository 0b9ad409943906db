import { expect, test } from 'vitest';
import { FORMATS, readerOf, recognise } from '../../src/cli/import/formats.ts';
import { clientAddress } from '../../src/domain/address.ts';
import { appId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { sessionColumns } from '../../src/ingestion/journal-rows.ts';
import { logVisitorId } from '../../src/ingestion/log-sessions.ts';
import { validateSessions } from '../../src/ingestion/validate.ts';
import { ASCII, WORST } from '../support/worst-texts.ts';

/** A text may hold the event loop for so long more than plain letters of the same length. */
const MORE_MS = 100;
const BATCH_BYTES = 1024 ** 2;
const NOW = epochMs(Date.parse('2026-11-20T12:00:00.000Z'));
const AT = '2026-11-20T10:00:00Z';
const APP = { id: appId('6f1c2a34-9b1e-4c52-8f0e-2d6f5c1b7a90'), domain: 'https://shop.example' } as never;

type Letters = (length: number) => string;

/** Of the processor, so that a loaded machine makes no difference. */
function elapsed(work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}

/** Expects `work` to take about as long for the worst letters as for plain ones. A run may be disturbed, so there are five. */
function expectLinear(work: (letters: Letters) => () => void): void {
  const plain = work(ASCII);
  for (const [name, letters] of Object.entries(WORST)) {
    const worst = work(letters);
    let more = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 5 && more >= MORE_MS; run++) more = elapsed(worst) - elapsed(plain);
    expect(more, name).toBeLessThan(MORE_MS);
  }
}

/** Fields of a session, with their longest texts. A text varies, so that no cache knows it. */
const event = (fields: object) => ({ events: [{ type: 'pageview', timestamp: AT, path: '/', ...fields }] });
const context = (fields: object) => ({ context: fields });
const FIELDS: Readonly<Record<string, readonly [length: number, (text: string) => object]>> = {
  id: [64, (text) => ({ id: text })],
  visitorId: [64, (text) => ({ visitorId: text })],
  startedAt: [2_048, (text) => ({ startedAt: `${AT.slice(0, -1)}.${text}` })],
  timestamp: [2_048, (text) => event({ timestamp: `${AT.slice(0, -1)}.${text}` })],
  path: [2_048, (text) => event({ path: `/${text}` })],
  target: [512, (text) => event({ type: 'click', target: text })],
  message: [1_024, (text) => event({ type: 'error', message: text })],
  name: [512, (text) => event({ type: 'custom', name: text })],
  type: [512, (text) => event({ type: text })],
  referrer: [2_048, (text) => context({ referrer: text })],
  'host of the referrer': [2_040, (text) => context({ referrer: `http://${text}` })],
  'user of the referrer': [2_030, (text) => context({ referrer: `http://${text}@a.example/` })],
  'path of the referrer': [2_030, (text) => context({ referrer: `http://a.example/${text}` })],
  language: [35, (text) => context({ language: text })],
  screen: [16, (text) => context({ screen: text })],
  userAgent: [1_024, (text) => context({ userAgent: text })],
  'userAgent of a browser': [1_000, (text) => context({ userAgent: `Mozilla/5.0 (${text}` })],
  'userAgent of a phone': [1_000, (text) => context({ userAgent: `Mozilla/5.0 (Linux; Android 9; ${text}` })],
  country: [256, (text) => context({ location: { country: text, region: text, city: text } })],
  utm: [
    256,
    (text) => context({ utm: { source: text, medium: text, campaign: text, term: text, content: text } }),
  ],
};
/** Each text stands alone in a session, or all of a batch in one. */
const LENGTHS = ['allowed', 'as long as the batch'] as const;

for (const [field, [allowed, fieldsOf]] of Object.entries(FIELDS)) {
  test.each(LENGTHS)(`${field}: a text as long as %s`, (length) => {
    expectLinear((letters) => {
      const bytesOf = (characters: number) =>
        Buffer.byteLength(JSON.stringify(fieldsOf(letters(characters))));
      const fitting = Math.floor((1_000 * BATCH_BYTES) / bytesOf(1_000));
      const text = letters(length === 'allowed' ? allowed : fitting);
      const bytes = bytesOf(text.length);
      const count = Math.max(1, Math.min(500, Math.floor(BATCH_BYTES / bytes)));
      const sessions = Array.from({ length: count }, (_, i) => ({
        id: `s-${i}`,
        visitorId: 'v',
        startedAt: AT,
        ...event({}),
        ...fieldsOf(`${text.slice(0, -3)}${i}`),
      }));
      return () => {
        const { sessions: valid } = validateSessions(sessions, { now: NOW, maxAgeDays: null, userAgent: '' });
        for (const session of valid) sessionColumns(session, { app: APP, place: null });
      };
    });
  });
}

/** A line of each format with a text in each of its fields. */
const LINE_BYTES = 256 * 1024;
const LINES: Readonly<Record<string, (text: string) => string>> = {
  'a whole line': (text) => text,
  address: (text) => `${text} - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "-"`,
  user: (text) => `203.0.113.7 - ${text} [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "-"`,
  time: (text) => `203.0.113.7 - - [${text}] "GET / HTTP/1.1" 200 1 "-" "-"`,
  request: (text) => `203.0.113.7 - - [17/May/2015:10:05:03 +0000] "${text}" 200 1 "-" "-"`,
  path: (text) => `203.0.113.7 - - [17/May/2015:10:05:03 +0000] "GET /${text} HTTP/1.1" 200 1 "-" "-"`,
  host: (text) => `203.0.113.7 - - [17/May/2015:10:05:03 +0000] "GET http://${text} HTTP/1.1" 200 1 "-" "-"`,
  referrer: (text) => `203.0.113.7 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "${text}" "-"`,
  agent: (text) => `203.0.113.7 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "${text}"`,
  'a field more': (text) =>
    `203.0.113.7 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "-" "${text}`,
  session: (text) => JSON.stringify({ id: text, startedAt: text, events: [{ path: text }] }),
  caddy: (text) =>
    JSON.stringify({
      ts: text,
      status: 200,
      request: { remote_ip: text, method: 'GET', uri: `http://${text}`, headers: { 'User-Agent': [text] } },
    }),
  columns: (text) => `#Fields: date time c-ip cs-method cs-uri-stem sc-status ${text}`,
  cloudfront: (text) => `2015-05-17\t10:05:03\t${text}\tGET\thttp://${text}\t200`,
};

test.each(Object.entries(LINES))('a line of a log with a long text: %s', (_, lineOf) => {
  expectLinear((letters) => {
    const fitting = Math.floor((1_000 * LINE_BYTES) / Buffer.byteLength(lineOf(letters(1_000))));
    const line = lineOf(letters(fitting));
    return () => {
      recognise([{ text: line, number: 1 }]);
      for (const format of FORMATS) {
        const { read } = readerOf(format);
        const lineOfFile = (text: string) => ({ text, number: 1 });
        if (format === 'cloudfront') {
          read(lineOfFile('#Fields: date time c-ip cs-method cs-uri-stem sc-status'));
        }
        read(lineOfFile(line));
      }
      logVisitorId('app', line, line);
    };
  });
});

test('an address', () => {
  expectLinear((letters) => {
    const text = letters(BATCH_BYTES);
    return () => void clientAddress(text);
  });
});
