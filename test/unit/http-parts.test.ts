import { describe, expect, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { ENDPOINTS } from '../../src/endpoints/index.ts';
import { etag, matchesEtag } from '../../src/http/answer/etag.ts';
import { openApiDocument } from '../../src/http/docs/openapi.ts';
import { LocalWindows } from '../../src/http/gate/shared-windows.ts';
import { problem } from '../../src/http/request/problem.ts';
import { newRequestId } from '../../src/http/request/request-id.ts';
import { createLog } from '../../src/http/server/log.ts';

describe('LocalWindows', () => {
  test('gives every parallel request its own count', async () => {
    const windows = new LocalWindows();
    windows.init({ windowMs: 60_000 } as Parameters<LocalWindows['init']>[0]);
    const counts = await Promise.all(Array.from({ length: 50 }, () => windows.increment('key')));
    expect(counts.map(({ totalHits }) => totalHits)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    windows.shutdown();
  });
});

describe('matchesEtag', () => {
  test('lists, weak tags, any', () => {
    const tag = etag('content');
    for (const header of [tag, `W/${tag}`, `"a", ${tag}`, `"a",${tag},"b"`, '*', ' * ']) {
      expect(matchesEtag(header, tag)).toBe(true);
    }
    for (const header of [undefined, '', '"a"', tag.slice(1, -1), `"${tag.slice(1, -2)}"`]) {
      expect(matchesEtag(header, tag)).toBe(false);
    }
  });
});

describe('problem', () => {
  test('a bug reveals no details', () => {
    const { status, body } = problem(new Error('SELECT secret FROM accounts'), 'id');
    expect([status, body.code]).toEqual([500, 'internal']);
    expect(JSON.stringify(body)).not.toMatch(/select|accounts/i);
  });

  test('Retry-After with 503, retryAfterSeconds with 429 alone', () => {
    const away = problem(new AppError('store_unavailable', 'x', { retryAfterSeconds: 5 }), 'id');
    expect(away.headers['Retry-After']).toBe('5');
    expect(away.body).not.toHaveProperty('retryAfterSeconds');
    const limited = problem(new AppError('rate_limited', 'x', { retryAfterSeconds: 7 }), 'id');
    expect(limited.headers['Retry-After']).toBe('7');
    expect(limited.body.retryAfterSeconds).toBe(7);
  });
});

describe('createLog', () => {
  const printed = (write: (log: ReturnType<typeof createLog>) => void): string => {
    const lines: string[] = [];
    write(createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } }));
    return lines.join('');
  };

  test('prints allowed fields and nothing else', () => {
    const line = printed((log) =>
      log.info({ route: '/x', status: 200, headers: { authorization: 'a' }, body: 'b' }, 'm'),
    );
    expect(JSON.parse(line)).toEqual({
      level: 'info',
      time: expect.any(String),
      route: '/x',
      status: 200,
      msg: 'm',
    });
    const child = printed((log) =>
      log
        .child({})
        .child({ req: { headers: 'h' }, requestId: 'r' })
        .info('m'),
    );
    expect(JSON.parse(child)).toEqual({ level: 'info', time: expect.any(String), requestId: 'r', msg: 'm' });
  });

  test('an error as its texts and causes, without credentials', () => {
    const cause = Object.assign(new Error('auth failed for service_api_abcDEF123'), {
      command: { args: ['s3cret'] },
    });
    const error = Object.assign(new Error('Bearer abc.def-ghi and app_secret_XYZ', { cause }), {
      config: { headers: { Authorization: 's3cret' } },
      code: 'E1',
    });
    const text =
      printed((log) => log.error({ err: error }, 'using service_api_abcDEF123')) +
      printed((log) => log.error(error));
    expect(text).not.toMatch(/s3cret|abcDEF123|abc\.def|app_secret_XYZ/);
    expect(text).toContain('"code":"E1"');
    expect(text).toContain('auth failed for service_api_[hidden]');
    const lines: string[] = [];
    const secrets = ['a "secret"\\', 'short'];
    createLog({ level: 'info', secrets, destination: { write: (line) => void lines.push(line) } }).info(
      { userAgent: `x ${secrets.join(' ')}` },
      secrets[0],
    );
    expect(JSON.parse(lines.join(''))).toMatchObject({ userAgent: 'x [hidden] short', msg: '[hidden]' });
  });
});

test('request ids are ULIDs that sort by time', () => {
  expect(newRequestId(0)).toMatch(/^0{10}[0-9A-HJKMNP-TV-Z]{16}$/);
  expect(newRequestId(2 ** 48 - 1)).toMatch(/^7Z{9}/);
  expect(newRequestId(1_000) < newRequestId(1_001)).toBe(true);
});

describe('the OpenAPI document', () => {
  const document = openApiDocument();

  test('has every endpoint with its parameters, answers and errors', () => {
    for (const { path, method, operationId } of ENDPOINTS) {
      const operation = document.paths?.[path]?.[method];
      expect(operation?.operationId).toBe(operationId);
      expect(Object.keys(operation?.responses ?? {})).toEqual(
        expect.arrayContaining(['400', '401', '429', '503']),
      );
    }
    const names = document.paths?.['/api/v1/sessions/pageviews']?.get?.parameters?.map((parameter) =>
      'name' in parameter ? [parameter.name, parameter.required ?? false] : [],
    );
    expect(names).toEqual([
      ['appId', true],
      ['from', false],
      ['to', false],
      ['segment', false],
      ['limit', false],
      ['If-None-Match', false],
      ['Cache-Control', false],
      ['Last-Event-ID', false],
    ]);
  });

  test('names the types of the specification', () => {
    expect(Object.keys(document.components?.schemas ?? {})).toEqual(
      expect.arrayContaining([
        'CreateAppDto',
        'PublicAppSummaryDto',
        'PublicExtendedOverviewResponseDto',
        'PublicOverviewKpiResponseDto',
        'PublicPageViewDto',
        'PublicTimeSpentDto',
        'PublicUserGrowthPointDto',
        'PublicTrafficHeatmapResponseDto',
        'PublicAudienceActivityResponseDto',
        'PublicLocationDto',
        'PublicUtmCampaignDto',
        'Problem',
      ]),
    );
  });
});
