import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { technologyOf } from '../../src/ingestion/user-agent.ts';
import { serve } from './servers.ts';
import { setStage } from './stage.ts';
import { APP_ID, counted, drained, SECRET, tag, track } from './visit.ts';

const stage = setStage();
const kept = () => stage.page.evaluate('Object.keys(localStorage)');
const custom = () =>
  stage.collector
    .events()
    .flatMap((event) => (event.type === 'custom' ? [[event.name, event.properties ?? null]] : []));

test('?analytics=off silences this browser on all pages, in every tab, until ?analytics=on', async () => {
  await stage.page.goto(`${stage.site.origin}/before`);
  await drained(stage.page);
  await stage.page.goto(`${stage.site.origin}/own?analytics=off`);
  await expect.poll(() => stage.warnings).toEqual(['session-analytics: off in this browser']);
  await track(stage.page, 'own');
  const other = await stage.visitor.newPage();
  await other.goto(`${stage.site.origin}/other`);
  await track(other, 'own');
  await other.evaluate(`history.pushState({}, '', '/more')`);
  expect(await kept()).toEqual(['sa:off']);
  await stage.page.goto(`${stage.site.origin}/after?x=1&analytics=on`);
  await drained(stage.page);
  await stage.page.goto(`${stage.site.origin}/last`);
  await drained(stage.page);
  expect(stage.of('pageview')).toEqual(['pageview /before', 'pageview /after', 'pageview /last']);
  expect(custom()).toEqual([]);
});

test('optOut stops at once and removes what is kept; optOut(false) measures again from the next page on', async () => {
  stage.html = () => `${tag(stage.collector.origin)}<button>Buy</button>`;
  await stage.page.goto(`${stage.site.origin}/a`);
  await drained(stage.page);
  await track(stage.page, 'unsent');
  await stage.page.evaluate('sessionAnalytics.optOut()');
  await track(stage.page, 'ignored');
  await stage.page.click('button');
  await stage.page.evaluate(`history.pushState({}, '', '/b')`);
  expect(await kept()).toEqual(['sa:off']);
  await stage.page.reload();
  await track(stage.page, 'ignored');
  await stage.page.evaluate('sessionAnalytics.optOut(false)');
  await stage.page.goto(`${stage.site.origin}/c`);
  await drained(stage.page);
  expect(stage.of('pageview')).toEqual(['pageview /a', 'pageview /c']);
  expect(custom()).toEqual([]);
});

test('links to other hosts, files and forms: events with properties, also of what leaves the page', async () => {
  const elsewhere = await serve('elsewhere.test', (_req, res) => {
    res.setHeader('Content-Type', 'text/html');
    res.end('<!doctype html>elsewhere');
  });
  stage.html = () =>
    `${tag(stage.collector.origin, 'data-outbound-links data-file-downloads="true" data-form-submissions')}
    <a id="out" href="${elsewhere.origin}/shoes?token=secret#part"><b>Shoes</b></a>
    <a id="file" href="/price%20list.PDF?token=secret">Prices</a><a id="named" href="/report" download>Report</a>
    <a id="own" href="/own">Own</a><a id="mail" href="mailto:a@b.example">Mail</a>
    <svg viewBox="0 0 9 9" width="20"><a id="drawn" href="${elsewhere.origin}/drawn"><rect width="9" height="9"/></a></svg>
    <form id="search" action="${elsewhere.origin}/find"><input name="id" value="secret"><button>Find</button></form>
    <form onsubmit="return false" data-newsletter><input name="mail" value="secret"><button id="join">Join</button></form>
    <script>for (const id of ['file', 'named', 'mail', 'drawn']) document.getElementById(id).onclick = () => false</script>`;
  const home = `${stage.site.origin}/a`;
  await stage.page.goto(home);
  for (const id of ['file', 'named', 'mail', 'drawn', 'join']) await stage.page.click(`#${id}`);
  await stage.page.click('#out', { button: 'middle' });
  await stage.page.click('#out', { button: 'right' });
  await stage.page.click('#out b');
  await stage.page.waitForURL(`${elsewhere.origin}/**`);
  await counted(stage.collector, 'custom /a Outbound Link: Click');
  await stage.page.goto(home);
  await stage.page.click('#own');
  await stage.page.goto(home);
  await stage.page.click('#search button');
  await stage.page.waitForURL(`${elsewhere.origin}/**`);
  await expect.poll(() => custom().length).toBe(6);
  expect(custom()).toEqual([
    ['File Download', { url: `${stage.site.origin}/price%20list.PDF` }],
    ['File Download', { url: `${stage.site.origin}/report` }],
    ['Form: Submission', { form: 'form[data-newsletter]' }],
    ['Outbound Link: Click', { url: `${elsewhere.origin}/shoes` }],
    ['Outbound Link: Click', { url: `${elsewhere.origin}/shoes` }],
    ['Form: Submission', { form: 'form#search' }],
  ]);
  expect(stage.collector.deliveries.map(({ text }) => text).join()).not.toContain('secret"');
  expect(stage.warnings).toEqual([]);
  await elsewhere.close();
});

test('without the attributes links, files and forms are clicks only', async () => {
  stage.html =
    () => `${tag(stage.collector.origin)}<a href="http://elsewhere.test/a.pdf" onclick="return false">A</a>
    <form onsubmit="return false"><button>Join</button></form>`;
  await stage.page.goto(`${stage.site.origin}/a`);
  await stage.page.click('a');
  await stage.page.click('button');
  await drained(stage.page);
  expect(custom()).toEqual([]);
  expect(stage.of('click')).toEqual(['click /a a', 'click /a button']);
});

test('properties: what the service takes is sent, anything else is left out with one warning, and the event stays', async () => {
  await stage.page.goto(`${stage.site.origin}/a`);
  await stage.page.evaluate(`
    const { track } = sessionAnalytics;
    track('signup', { plan: 'pro', seats: 3, price: 1.5, trial: false, none: null, missing: undefined });
    track('same', { a: 1, 'a\u0000': 2, '\u200ba': 3, ' a': 4, '\ud800x': 5, '\udfffx': 6 });
    for (const wrong of [['a', 'b'], 'text', 7, true, () => 1]) track('no object', wrong);
    track('\u200b \u0000', { lost: 1 });
    track('wrong', { none: null, missing: undefined, not: NaN, far: -Infinity, list: [1], object: {}, big: 1n,
      act() {}, when: new Date(), sign: Symbol('x'), '': 'x', '  ': 'x', '\\u200b': 'x', ['k'.repeat(65)]: 'x', ok: 1 });
    track('only wrong', { list: [] });
    track('long', { text: '😀'.repeat(600), ['😀k'.repeat(32)]: true });
    track('many', Object.fromEntries(Array.from({ length: 30 }, (_, i) => ['k' + i, i])));
    track('null', null);
    track('number', 7);`);
  await drained(stage.page);
  expect(custom()).toEqual([
    ['signup', { plan: 'pro', seats: 3, price: 1.5, trial: false }],
    ['same', { a: 1 }],
    ...Array.from({ length: 5 }, () => ['no object', null]),
    ['wrong', { ok: 1 }],
    ['only wrong', null],
    // The service cuts at 256 characters.
    ['long', { text: '😀'.repeat(256), ['😀k'.repeat(32)]: true }],
    ['many', Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i]))],
    ['null', null],
    ['number', null],
  ]);
  expect(stage.warnings).toEqual(['session-analytics: some properties are left out']);
});

test('without sendBeacon the last events leave with the page, and the next page sends what did not', async () => {
  await stage.visitor.addInitScript('delete Navigator.prototype.sendBeacon; delete navigator.sendBeacon');
  await stage.page.goto(`${stage.site.origin}/a`);
  expect(await stage.page.evaluate('typeof navigator.sendBeacon')).toBe('undefined');
  await track(stage.page, 'leaving');
  await stage.page.goto('about:blank');
  await counted(stage.collector, 'pageview /a', 'custom /a leaving', 'engagement /a');

  // Now the browser cannot deliver them.
  stage.collector.answers = ['cut', 'cut'];
  await stage.page.goto(`${stage.site.origin}/b`);
  await track(stage.page, 'left');
  await stage.page.goto(`${stage.site.origin}/c`);
  const start = Date.now();
  await counted(stage.collector, 'custom /b left', 'pageview /c');
  // Not after the two minutes for which a page that crashed keeps its events.
  expect(Date.now() - start).toBeLessThan(60_000);
});

test('a beacon that the browser refuses with an error stops nothing', async () => {
  await stage.visitor.addInitScript(
    'Navigator.prototype.sendBeacon = () => { throw new TypeError("blocked"); }; window.keep = window.fetch',
  );
  await stage.page.goto(`${stage.site.origin}/a`);
  await stage.page.goto(`${stage.site.origin}/b`);
  await drained(stage.page);
  expect(stage.of('pageview')).toEqual(['pageview /a', 'pageview /b']);
  expect(stage.warnings).toEqual([]);
});

test('errors: a useful text for whatever is thrown, and a row for each', async () => {
  stage.files.set('/thrower.js', {
    type: 'text/javascript',
    text: `throw new Error('private');`,
  });
  const elsewhere = stage.site.origin.replace('shop.test', 'cdn.test');
  await stage.page.goto(`${stage.site.origin}/a`);
  const rejected = async (reason: string) => stage.page.evaluate(`void Promise.reject(${reason})`);
  for (const reason of [
    `{ code: 404, info: 'x' }`,
    `{ code: 405, info: 'x' }`,
    `new Response('', { status: 503, statusText: 'Away' })`,
    `new Event('abort')`,
    `(() => { const loop = { a: 1 }; loop.loop = loop; return loop })()`,
    `new Error('Failed: ' + {})`,
    `Object.create(null)`,
    `undefined`,
    `null`,
    `''`,
    `new DOMException('gone', 'AbortError')`,
    `{ message: 'x'.repeat(5000) }`,
    `{ toString() { throw 1 } }`,
  ])
    await rejected(reason);
  await stage.page.addScriptTag({ content: `setTimeout(() => { throw 'thrown' })\n//# sourceURL=/own.js` });
  await stage.page.addScriptTag({ content: `setTimeout(() => { throw new Error })\n//# sourceURL=/own.js` });
  await stage.page.addScriptTag({
    content: `setTimeout(() => { throw { kind: 'odd' } })\n//# sourceURL=/own.js`,
  });
  await stage.page.evaluate(`dispatchEvent(new ErrorEvent('error'));
    dispatchEvent(new ErrorEvent('error', { filename: '/odd.js?token=1', lineno: 3, colno: 7 }))`);
  await stage.page.evaluate(`document.body.append(
    Object.assign(document.createElement('script'), { src: '${elsewhere}/thrower.js' }))`);
  await expect
    .poll(async () => {
      await drained(stage.page);
      return stage.of('error').length;
    })
    .toBe(19);
  const texts = stage.of('error').map((event) => event.slice('error /a '.length));
  expect(texts.map((text) => text.replace(/x{99,}/, 'xxx'))).toEqual([
    'Object {"code":404,"info":"x"}',
    'Object {"code":405,"info":"x"}',
    'Response {"status":503,"type":"default"}',
    'Event {"type":"abort","isTrusted":false}',
    'Object {"a":1}',
    'Error: Failed: {…}',
    'Object {}',
    'Rejected without a reason',
    'Rejected without a reason',
    'Error',
    'AbortError: gone',
    'Object {"message":"xxx"}',
    'Object {}',
    'thrown at /own.js:1:20',
    'Error at /own.js:1:26',
    'Object {"kind":"odd"}',
    'Error',
    'Error at /odd.js:3:7',
    'Script error. (of another site)',
  ]);
  for (const text of texts) expect(text.length).toBeLessThanOrEqual(1_024);
});

test('errors: the work for each is bounded, and none is done after the 50th', async () => {
  await stage.page.goto(`${stage.site.origin}/a`);
  const reads = () => stage.page.evaluate('reads');
  await stage.page.evaluate(`window.reads = 0;
    // Counts what is read of an object and of all that is in it.
    window.watched = (object) => new Proxy(object, { get(target, key) {
      reads++;
      const value = target[key];
      return typeof value === 'object' && value ? watched(value) : value;
    } });
    window.deep = { get next() { return deep } };
    window.wide = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => ['key' + i, { id: i, tags: ['a', 'b'] }]));`);
  for (const thrown of [
    'Array.from({ length: 1e6 }, (_, id) => ({ id }))',
    'wide',
    'deep',
    'new Float64Array(1e6)',
    `{ state: { wide, deep, text: 'x'.repeat(1e7) } }`,
  ])
    await stage.page.evaluate(`void Promise.reject(watched(${thrown}))`);
  expect(await reads()).toBeLessThan(5 * 300);
  for (const thrown of [
    `'x'.repeat(1e7)`,
    `new Error('x'.repeat(1e7))`,
    `{ get code() { throw new Error('mine') } }`,
    `{ toJSON() { throw new Error('mine') }, toString() { throw new Error('mine') } }`,
    `{ big: 1n, sign: Symbol('s'), act() {}, code: 7 }`,
    `new Proxy({}, { get() { throw 1 }, ownKeys() { throw 1 } })`,
  ])
    await stage.page.evaluate(`void Promise.reject(${thrown})`);
  await stage.page.evaluate(`for (let i = 0; i < 39; i++) void Promise.reject(i)`);
  await expect.poll(() => stage.of('error').length).toBe(50);
  const before = await reads();
  await stage.page.evaluate(`for (let i = 0; i < 20; i++) void Promise.reject(watched({ i }))`);
  await track(stage.page, 'after');
  await drained(stage.page);
  expect(await reads()).toBe(before);
  expect(stage.of('error')).toHaveLength(50);
  const texts = stage.of('error').map((event) => event.slice('error /a '.length));
  for (const text of texts) expect(text.length).toBeLessThanOrEqual(1_024);
  expect(texts).toContain('Object {"big":"1","sign":"Symbol(s)","code":7}');
  expect(stage.warnings).toEqual([]);
});

const WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15';
const BLINK = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const MAC = `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT}`;
const CHROMEBOOK = `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${BLINK}`;
/** The width of the screen, the points of touch, the user agent, and what they are. */
const DEVICES = [
  [820, 5, MAC, 'iOS', 'tablet', true],
  [390, 5, MAC, 'iOS', 'mobile', true],
  [1440, 0, MAC, 'macOS', 'desktop', false],
  [1366, 10, CHROMEBOOK, 'Chrome OS', 'desktop', false],
  [1920, 10, `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${BLINK}`, 'Windows', 'desktop', false],
  [1920, 10, `Mozilla/5.0 (X11; Linux x86_64) ${BLINK}`, 'Linux', 'desktop', false],
  [820, 5, `Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) ${WEBKIT}`, 'iOS', 'tablet', false],
  [
    412,
    5,
    `Mozilla/5.0 (Linux; Android 10; K) ${BLINK.replace('Safari', 'Mobile Safari')}`,
    'Android',
    'mobile',
    false,
  ],
  [800, 5, `Mozilla/5.0 (Linux; Android 10; K) ${BLINK}`, 'Android', 'tablet', false],
] as const;
test('devices: the user agent is sent only where it hides an iPad or iPhone, and the service knows each', async () => {
  for (const [i, [width, points, userAgent]] of DEVICES.entries()) {
    const visitor = await stage.browser.newContext({ userAgent, screen: { width, height: 900 } });
    await visitor.addInitScript(`Object.defineProperty(navigator, 'maxTouchPoints', { value: ${points} })`);
    const page = await visitor.newPage();
    await page.goto(`${stage.site.origin}/${i}`);
    await drained(page);
    await visitor.close();
  }
  const sent = new Map(
    stage.collector.sessions().map(({ context, events }) => [events[0]?.path, context.userAgent] as const),
  );
  const seen = DEVICES.map(([, , userAgent], i) => {
    const told = sent.get(`/${i}`);
    const { os, device } = technologyOf(told ?? userAgent);
    return [os, device, told !== undefined];
  });
  expect(seen).toEqual(DEVICES.map(([, , , os, device, isTold]) => [os, device, isTold]));
});

test('what an earlier page left is sent at once, before any timer fires', async () => {
  const session = {
    id: 'left',
    visitorId: 'left',
    startedAt: new Date(Date.now() - 60_000).toISOString(),
    context: {},
  };
  const events = [{ type: 'custom', timestamp: session.startedAt, path: '/left', name: 'left' }];
  const queue = { until: 0, batches: [{ id: randomUUID(), session, events, sent: Date.now() - 50_000 }] };
  await stage.visitor.addInitScript(`window.setTimeout = window.setInterval = () => 0;
    localStorage.setItem('sa:${APP_ID}:qleft', ${JSON.stringify(JSON.stringify(queue))})`);
  stage.html = () => tag(stage.collector.origin, 'data-manual');
  await stage.page.goto(`${stage.site.origin}/next`);
  await counted(stage.collector, 'custom /left left');
});

test('settings as a module and as attributes mean the same', async () => {
  stage.html = () =>
    `<script src="${stage.collector.origin}/sdk.js"></script><a href="http://elsewhere.test/a.zip" onclick="return false">A</a>`;
  await stage.page.goto(`${stage.site.origin}/a`);
  await stage.page.evaluate(
    `sessionAnalytics.init({ appId: '${APP_ID}', secretKey: '${SECRET}', fileDownloads: true })`,
  );
  await stage.page.click('a');
  await drained(stage.page);
  expect(custom()).toEqual([['File Download', { url: 'http://elsewhere.test/a.zip' }]]);
});
