import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { questionPath } from '../../support/questions.ts';
import { ABOUT_APP, askRightly, withService } from '../operations.ts';
import { endpointOf, expectProblem } from '../support.ts';

const service = withService();

describe.each(ABOUT_APP)('%s', (operationId) => {
  test('an unknown app and one of another account, alike', async () => {
    const stranger = await service().newAccount();
    const foreign = await askRightly(service(), operationId, { key: stranger.key });
    const unknown = await service().ask(questionPath(endpointOf(operationId), randomUUID()));
    const bodies = [foreign, unknown].map((answer) => expectProblem(answer, 'app_access_denied'));
    expect(bodies[0]).toEqual({ ...bodies[1], requestId: bodies[0]?.requestId });
  });

  test('a shared app after its share has ended; ids are case-insensitive', async () => {
    const { app, metadata, ask } = service();
    const friend = await service().newAccount();
    const path = questionPath(endpointOf(operationId), app.toUpperCase());
    await metadata.shareApp(app, friend.account);
    expect((await ask(path, { key: friend.key })).status).toBe(200);
    await metadata.unshareApp(app, friend.account);
    expectProblem(await ask(path, { key: friend.key }), 'app_access_denied');
  });

  test('a suspended plan, before access is checked', async () => {
    const suspended = await service().newAccount('suspended');
    expectProblem(await askRightly(service(), operationId, { key: suspended.key }), 'plan_blocked');
  });
});
