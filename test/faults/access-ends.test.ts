import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { send } from '../support/http.ts';
import { type Running, running, type Tenant } from './support.ts';

/** The end of an access in one process takes effect in another within 5 s, under any load. */
const PROMISE_MS = 5_000;
const LOOPS = 12;

let bridge: BridgeProcess;
let here: Running;
let elsewhere: Running;

beforeAll(async () => {
  bridge = await bridgeProcess();
  const settings = {
    CLICKHOUSE_URL: bridge.url,
    CLICKHOUSE_USER: bridge.username,
    CLICKHOUSE_PASSWORD: bridge.password,
  };
  here = await running(settings);
  elsewhere = await running(settings);
});
afterAll(async () => {
  await Promise.all([here?.remove(), elsewhere?.remove()]);
  await bridge?.close();
});

interface Access {
  readonly key: string;
  readonly app: string;
  /** Before the path of the Public API. */
  readonly below?: string;
  readonly refusal: number;
  end(): Promise<unknown>;
}

/** A link to the tenant's app, made and ended by an owner in the console. */
async function linked({ account, app }: Tenant): Promise<Access> {
  const { url } = (await here.admin('sign-in-link', '--account', account)) as { readonly url: string };
  let cookie = '';
  const ask = async (path: string, body: object) => {
    const headers = { Origin: here.url, Cookie: cookie };
    const answer = await send(here.url, `/dashboard/api${path}`, { method: 'POST', body, headers });
    [cookie = cookie] = String(answer.headers['set-cookie'] ?? cookie).split(';');
    return answer.json as { readonly token: string; readonly linkId: string };
  };
  await ask('/sign-in/link', { token: url.split('#')[1] });
  const { token, linkId } = await ask(`/apps/${app.id}/links`, { name: 'Board' });
  const end = () => ask(`/apps/${app.id}/links/${linkId}/revoke`, {});
  return { key: token, app: app.id, below: '/shared', refusal: 401, end };
}

async function accesses(): Promise<Access[]> {
  const [revoked, suspended, owner, guest, deleted, linking] = await Promise.all(
    Array.from({ length: 6 }, () => here.newTenant()),
  );
  if (!revoked || !suspended || !owner || !guest || !deleted || !linking) throw new Error('no tenants');
  const share = ['--app', owner.app.id, '--account', guest.account];
  await here.admin('app', 'share', ...share);
  const of = ({ key, app }: typeof revoked) => ({ key, app: app.id });
  return [
    { ...of(revoked), refusal: 401, end: () => here.admin('key', 'revoke', '--key', revoked.keyId) },
    {
      ...of(suspended),
      refusal: 403,
      end: () => here.admin('account', 'set-plan', '--account', suspended.account, '--plan', 'suspended'),
    },
    {
      key: guest.key,
      app: owner.app.id,
      refusal: 403,
      end: () => here.admin('app', 'unshare', ...share),
    },
    {
      ...of(deleted),
      refusal: 403,
      end: () => here.admin('app', 'delete', '--yes', '--app', deleted.app.id),
    },
    await linked(linking),
  ];
}

const statusOf = async ({ key, app, below = '' }: Access): Promise<number> =>
  (await elsewhere.ask(`${below}/api/v1/sessions/data-bounds?appId=${app}`, { key })).status;

test.each([false, true])('under load (the store hangs afterwards: %s)', async (hangs) => {
  const all = await accesses();
  for (const access of all) expect(await statusOf(access)).toBe(200);
  const answers: { readonly access: Access; readonly began: number; readonly status: number }[] = [];
  let isOver = false;
  const ask = async (access: Access): Promise<void> => {
    const began = performance.now();
    answers.push({ access, began, status: await statusOf(access) });
  };
  const loops = Array.from({ length: LOOPS }, async (_, i) => {
    for (let turn = i; !isOver; turn++) await ask(all[turn % all.length] as Access);
  });
  // Waits until the cached values were confirmed several times.
  await sleep(PROMISE_MS);
  const ended = new Map<Access, number>();
  for (const access of all) {
    await access.end();
    ended.set(access, performance.now());
  }
  if (hangs) bridge.hang();
  try {
    await sleep(PROMISE_MS + 1_000);
    isOver = true;
    await Promise.all([...loops, ...all.map(ask)]);
  } finally {
    bridge.resume();
  }
  for (const access of all) {
    const end = (ended.get(access) ?? 0) + PROMISE_MS;
    const late = answers.filter((answer) => answer.access === access && answer.began >= end);
    expect(late.length).toBeGreaterThan(0);
    for (const { status } of late) expect(hangs ? [access.refusal, 503] : [access.refusal]).toContain(status);
    await expect.poll(() => statusOf(access)).toBe(access.refusal);
  }
});
