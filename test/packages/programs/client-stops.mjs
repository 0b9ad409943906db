// Run by client.test.ts on each Node with --expose-gc: stops `live` and `poll` in each way, while all garbage is collected.
// Prints how each one ended, and the number of streams that are open in the end. Then nothing keeps the process alive.
import { createClient } from 'session-analytics-client';

const baseUrl = process.argv[2];
const AFTER_MS = 200;
const collector = setInterval(() => globalThis.gc(), 10);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const client = createClient({ baseUrl, apiKey: 'k' });
const live = (signal) => client.live('listPageviews', { appId: 'a' }, { signal });
const poll = (signal) => client.poll('listPageviews', { appId: 'a' }, { signal, intervalMs: 50 });

/** Aborts a while after the first answer. */
async function abortLater(ask, signalOf) {
  const controller = new AbortController();
  let count = 0;
  for await (const _ of ask(signalOf(controller.signal))) {
    count++;
    setTimeout(() => controller.abort(), AFTER_MS);
  }
  return count;
}

const WAYS = {
  abort: (ask) => abortLater(ask, (signal) => signal),
  'signal of signals': (ask) =>
    abortLater(ask, (signal) => {
      const inner = AbortSignal.any([signal, new AbortController().signal]);
      return AbortSignal.any([inner, AbortSignal.timeout(600_000)]);
    }),
  timeout: async (ask) => {
    for await (const _ of ask(AbortSignal.timeout(1_000)));
    return 1;
  },
  'abort in the loop': async (ask) => {
    const controller = new AbortController();
    let count = 0;
    for await (const _ of ask(controller.signal)) {
      count++;
      controller.abort();
    }
    return count;
  },
  break: async (ask) => {
    for await (const _ of ask()) {
      await sleep(AFTER_MS);
      break;
    }
    return 1;
  },
  'return while it waits': async (ask) => {
    const answers = ask();
    await answers.next();
    const next = answers.next();
    await sleep(AFTER_MS);
    await answers.return();
    return (await next).done ? 1 : 2;
  },
};

const runs = Object.entries(WAYS).flatMap(([name, run]) =>
  [live, poll].map(async (ask) => [`${ask.name} ${name}`, await run(ask)]),
);
const ended = Object.fromEntries(await Promise.all(runs));
let open = '';
for (let i = 0; i < 50 && open !== '0'; i++) {
  await sleep(20);
  open = await (await fetch(`${baseUrl}/open`)).text();
}
clearInterval(collector);
process.stdout.write(JSON.stringify({ node: process.version, ended, open }));
