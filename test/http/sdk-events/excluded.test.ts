import { expect, test } from 'vitest';
import { tracesOf } from '../../support/traces.ts';
import { withService } from '../operations.ts';
import { batchFor, post, visit } from './support.ts';

const service = withService({ env: { TRUST_PROXY: '1' } });

const from = (address: string, sessions = [visit(address)]) =>
  post(service(), batchFor(service(), { sessions }), { 'X-Forwarded-For': address });
const exclude = (...addresses: string[]) => service().metadata.setExclusions(service().app, addresses);
const left = (session: number) => ({
  session,
  event: null,
  code: 'excluded',
  message: 'The app leaves out the events of this address.',
});
const sessions = async (): Promise<number> => {
  const { json } = await service().ask(`/api/v1/sessions/overview/extended?appId=${service().app}`);
  return (json as { session: { sessions: number } }).session.sessions;
};

test('events of an excluded address are accepted and left out, whatever its spelling, and never stored', async () => {
  await exclude('192.0.2.0/24', '2001:db8::/32');
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '192.0.2.7:5000', '[2001:DB8::9]:80']) {
    const answer = await from(address, [visit('left-out-1'), visit('left-out-2')]);
    expect(answer, address).toMatchObject({ status: 200 });
    expect(answer.json, address).toEqual({ accepted: 0, rejected: [left(0), left(1)] });
  }
  expect((await from('192.0.3.7')).json).toEqual({ accepted: 1, rejected: [] });
  expect((await from('2001:db9::1')).json).toEqual({ accepted: 1, rejected: [] });
  expect(await sessions()).toBe(2);
  expect(await tracesOf(service().db, ['left-out']), 'in all tables and files').toEqual([]);
});

test('a retry of a batch is a duplicate also after the address was taken off the list', async () => {
  await exclude('192.0.2.7/32');
  const batch = batchFor(service(), { sessions: [visit('again')] });
  const headers = { 'X-Forwarded-For': '192.0.2.7' };
  expect((await post(service(), batch, headers)).json).toEqual({ accepted: 0, rejected: [left(0)] });
  await exclude();
  expect((await post(service(), batch, headers)).json).toMatchObject({ accepted: 0, duplicate: true });
  expect((await from('192.0.2.7')).json).toEqual({ accepted: 1, rejected: [] });
});

test('other apps count events of the address', async () => {
  await exclude('192.0.2.7/32');
  const other = await service().newTenant();
  const answer = await post(service(), batchFor(other), { 'X-Forwarded-For': '192.0.2.7' });
  expect(answer.json).toEqual({ accepted: 1, rejected: [] });
});
