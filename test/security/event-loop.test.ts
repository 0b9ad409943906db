import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { epochMs } from '../../src/domain/time.ts';
import { signManagementToken } from '../../src/management/token.ts';
import { withService } from '../http/operations.ts';
import { batchFor } from '../http/sdk-events/support.ts';
import { type Answer, type Ask, send, sendRaw } from '../http/support.ts';
import { ASCII, WORST } from '../support/worst-texts.ts';

/** A text may hold the event loop for so long more than plain letters of the same length. */
const MORE_MS = 100;
const SECRET = 'a secret of the test that is long enough';
const BATCH_BYTES = 1024 ** 2;
const BODY_BYTES = 100 * 1024;
const HEADER_BYTES = 8_000;

const service = withService({
  env: { MANAGEMENT_JWT_SECRET: SECRET, TRUST_PROXY: '1', PUBLIC_API_REQUESTS_PER_MINUTE: '1000000' },
});

/** One of each kind; test/unit/linear-time.test.ts tries all of them. */
const LETTERS = [
  'different Han letters',
  'letters with long decompositions',
  'marks in the wrong order',
  'lone surrogates',
  'blanks inside',
  'labels in punycode',
  'signs of a user',
  'begins of tokens',
];

type Letters = (length: number) => string;
/** Prepares a request with a text of these letters, and returns what sends it. */
type Way = (letters: Letters) => () => Promise<Answer>;

/** Returns how long the event loop stood at most from a request to its answer, in ms. */
async function longestStall(ask: () => Promise<Answer>): Promise<number> {
  let [longest, last, isOver] = [0, performance.now(), false];
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  look();
  const { status } = await ask();
  isOver = true;
  // The answer may be read before the next look.
  look();
  if (status !== 503) return longest;
  // A process whose event loop stood refuses what comes next, without a look at it.
  await sleep(500);
  return longestStall(ask);
}

/** Expects that no letters hold the event loop up. A run may be disturbed, so the shortest of some counts. */
async function expectFree(way: Way, letters: readonly string[] = LETTERS): Promise<void> {
  for (const name of letters) {
    let [worst, plain] = [Number.POSITIVE_INFINITY, 0];
    for (let run = 0; run < 5 && worst - plain >= MORE_MS; run++) {
      worst = Math.min(worst, await longestStall(way(WORST[name] as Letters)));
      if (worst < MORE_MS) break;
      const alike = await longestStall(way(ASCII));
      plain = run === 0 ? alike : Math.min(plain, alike);
    }
    expect(worst - plain, name).toBeLessThan(MORE_MS);
  }
}

/** The longest text whose JSON, in UTF-8, fits. */
function fitting(letters: Letters, bytes: number): string {
  const each = Buffer.byteLength(JSON.stringify(letters(1_000))) / 1_000;
  return letters(Math.floor((bytes - 1_000) / each));
}

const time = '2026-11-20T10:00:00.000Z';
const session = (context: object, event: object = {}) => ({
  id: randomUUID(),
  visitorId: 'v',
  startedAt: new Date().toISOString(),
  context,
  events: [{ type: 'pageview', timestamp: new Date().toISOString(), path: '/', ...event }],
});
const SESSIONS: Readonly<Record<string, (text: (length: number) => string) => object>> = {
  'hosts of referrers': (text) => session({ referrer: `http://${text(2_041)}` }),
  'user agents': (text) => session({ userAgent: `Mozilla/5.0 (${text(1_000)}` }),
  'all of a context': (text) =>
    session({
      referrer: text(2_048),
      language: text(35),
      screen: text(16),
      utm: { source: text(256), medium: text(256), campaign: text(256), term: text(256), content: text(256) },
      location: { country: text(256), region: text(256), city: text(256) },
    }),
  'all of an event': (text) =>
    session(
      {},
      { type: 'click', path: `/${text(2_040)}`, target: text(512), message: text(1_024), name: text(512) },
    ),
};

let made = 0;
for (const [fields, sessionOf] of Object.entries(SESSIONS)) {
  /** As many sessions as fit. Each text is another one, so that no cache knows it. */
  const sessionsOf = (letters: Letters, bytes: number): object[] => {
    const one = () =>
      sessionOf((length) => letters(length - 4) + (made++ % 36 ** 4).toString(36).padStart(4, '0'));
    const count = Math.floor((bytes - 1_000) / (Buffer.byteLength(JSON.stringify(one())) + 10));
    return Array.from({ length: Math.min(500, count) }, one);
  };
  test(`a batch of the SDK: ${fields}`, async () => {
    await expectFree((letters) => {
      const body = JSON.stringify(batchFor(service(), { sessions: sessionsOf(letters, BATCH_BYTES) }));
      return () => service().ask('/sdk/v1/events', { method: 'POST', key: null, body });
    });
  });

  test(`an import: ${fields}`, async () => {
    const headers = await operator();
    await expectFree((letters) => {
      const body = JSON.stringify({ sessions: sessionsOf(letters, BATCH_BYTES) });
      return () =>
        send(service().managementUrl, `/management/v1/apps/${service().app}/import`, {
          method: 'POST',
          headers,
          body,
        });
    });
  });
}

test.each(['appId', 'secretKey', 'batchId', 'sentAt', 'sessions', 'unknown'])(
  'the envelope’s %s',
  async (field) => {
    await expectFree((letters) => {
      const body = JSON.stringify(batchFor(service(), { [field]: fitting(letters, BATCH_BYTES) }));
      return () => service().ask('/sdk/v1/events', { method: 'POST', key: null, body });
    });
  },
);

const posted =
  (path: string, bodyOf: (text: string) => object): Way =>
  (letters) => {
    const body = JSON.stringify(bodyOf(fitting(letters, BODY_BYTES)));
    return () => service().ask(path, { method: 'POST', body });
  };

test('POST /api/v1/apps', async () => {
  const ways: Way[] = [
    posted('/api/v1/apps', (text) => ({ name: text, domain: 'https://a.example' })),
    posted('/api/v1/apps', (text) => ({ name: 'A', domain: `https://${text}` })),
    posted('/api/v1/apps', (text) => ({ name: 'A', domain: `https://${text}@a.example` })),
    posted('/api/v1/apps', (text) => ({ name: 'A', domain: text })),
    posted('/api/v1/apps', (text) => ({ [text]: 'A' })),
  ];
  for (const way of ways) await expectFree(way);
});

const operator = async (): Promise<Record<string, string>> => ({
  Authorization: `Bearer ${await signManagementToken(SECRET, () => epochMs(Date.now()))}`,
});

test('the management API', async () => {
  const headers = await operator();
  const { account, app } = service();
  const bodies: readonly (readonly [method: string, path: string, bodyOf: (text: string) => object])[] = [
    ['POST', '/accounts', (text) => ({ name: text })],
    ['POST', '/accounts', (text) => ({ name: 'A', plan: text })],
    [
      'POST',
      `/accounts/${account}/keys`,
      (text) => ({ name: text, expiresAt: `${time.slice(0, -1)}${text}` }),
    ],
    ['POST', `/accounts/${account}/sign-in-link`, (text) => ({ email: `${text}@a.example` })],
    ['PUT', `/accounts/${account}/members/${encodeURIComponent('a@b.example')}`, (text) => ({ role: text })],
    ['POST', `/apps/${app}/visitor-erasures`, (text) => ({ visitorId: text })],
  ];
  for (const [method, path, bodyOf] of bodies) {
    await expectFree((letters) => {
      const body = JSON.stringify(bodyOf(fitting(letters, BODY_BYTES)));
      return () => send(service().managementUrl, `/management/v1${path}`, { method, headers, body });
    });
  }
  await expectFree((letters) => {
    const path = encodeURIComponent(fitting(letters, 2_600).replace(/\p{Cs}/gu, '\ufffd'))
      .slice(0, 7_000)
      .replace(/%[^%]?$/, '');
    return () =>
      send(service().managementUrl, `/management/v1/accounts/${account}/members/${path}`, {
        method: 'PUT',
        headers,
        body: { role: 'owner' },
      });
  });
});

test('the console', async () => {
  const page = (path: string, ask: Ask): Promise<Answer> =>
    send(service().url, `/dashboard/api${path}`, {
      ...ask,
      headers: { Origin: service().url, ...ask.headers },
    });
  await expectFree((letters) => {
    const body = JSON.stringify({ token: fitting(letters, 15_000) });
    return () =>
      page('/sign-in/link', {
        method: 'POST',
        body,
        headers: { 'X-Forwarded-For': `10.0.0.${Math.floor(Math.random() * 250)}` },
      });
  });
});

/** A text as a part of a URL: encoded, and not too long. */
const inUrl = (letters: Letters): string =>
  encodeURIComponent(letters(7_000).replace(/\p{Cs}/gu, '\ufffd'))
    .slice(0, 7_500)
    .replace(/%[^%]{0,1}$/, '');

test('a query', async () => {
  const { app } = service();
  for (const parameter of ['appId', 'from', 'to', 'limit', 'unknown']) {
    await expectFree((letters) => {
      const path = `/api/v1/sessions/pageviews?appId=${app}&${parameter}=${inUrl(letters)}`;
      return () => service().ask(path);
    });
  }
  const many = Array.from({ length: 1_300 }, (_, i) => `${i.toString(36)}=`).join('&');
  await expectFree(() => () => service().ask(`/api/v1/sessions/pageviews?${many}`), ['dots']);
  await expectFree((letters) => () => service().ask(`/${inUrl(letters)}`));
});

const HEADERS = [
  'Accept',
  'Accept-Encoding',
  'Authorization',
  'Cache-Control',
  'Content-Type',
  'Content-Encoding',
  'Cookie',
  'If-None-Match',
  'Last-Event-ID',
  'Origin',
  'User-Agent',
  'X-Forwarded-For',
  'X-Forwarded-Proto',
  'X-Request-Id',
  'baggage',
  'traceparent',
  'tracestate',
];
/** What a header's value begins with, so that the rest is looked at. */
const BEGINS: Readonly<Record<string, string>> = {
  Authorization: 'Bearer ',
  'Cache-Control': 'max-stale=',
  'If-None-Match': 'W/"',
  Origin: 'https://',
  'User-Agent': 'Mozilla/5.0 (',
  Cookie: 'analytics_session=',
};

test.each(HEADERS)('the header %s', async (header) => {
  const { url, key, app } = service();
  const targets =
    header === 'Origin'
      ? ['POST /sdk/v1/events', 'POST /dashboard/api/sign-out']
      : [`GET /api/v1/sessions/pageviews?appId=${app}`];
  const sent = (target: string, value: string): Promise<Answer> => {
    const credentials = header === 'Authorization' ? '' : `Authorization: Bearer ${key}\r\n`;
    const body = target.startsWith('GET') ? '' : 'Content-Length: 2\r\n';
    return sendRaw(
      url,
      `${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${credentials}${body}${header}: ${value}\r\n\r\n{}`,
    );
  };
  for (const target of targets) {
    await expectFree((letters) => {
      const text =
        (BEGINS[header] ?? '') + fitting((length) => letters(length).replace(/\p{Cc}/gu, '\t'), HEADER_BYTES);
      return () => sent(target, text);
    });
  }
});
