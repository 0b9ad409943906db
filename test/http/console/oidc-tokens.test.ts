import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Email } from '../../../src/management/schemas.ts';
import { type Answer, send } from '../../support/http.ts';
import { type TestService, testService } from '../support.ts';
import { asPage, BEHIND_PROXY, cookieOf, expectProblem, personWith, signIn } from './support.ts';

const BEGIN = '/dashboard/api/sign-in/oidc';
const CLIENT = { id: 'console', secret: 'a secret of the provider' };
const KID = 'key of the test';
const OWN = generateKeyPairSync('rsa', { modulusLength: 2048 });
const FOREIGN = generateKeyPairSync('rsa', { modulusLength: 2048 });

type Claims = Readonly<Record<string, unknown>>;
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWT of any algorithm, signed by any means. */
function token(header: object, claims: Claims, signed: (text: string) => Buffer): string {
  const text = `${encoded(header)}.${encoded(claims)}`;
  return `${text}.${signed(text).toString('base64url')}`;
}
const rs256 =
  (key: KeyObject, kid: string | undefined = KID) =>
  (claims: Claims): string =>
    token({ alg: 'RS256', kid }, claims, (text) => sign('RSA-SHA256', Buffer.from(text), key));
const hs256 =
  (secret: string | Buffer, kid?: string) =>
  (claims: Claims): string =>
    token({ alg: 'HS256', kid }, claims, (text) => createHmac('sha256', secret).update(text).digest());
const publicPem = OWN.publicKey.export({ type: 'spki', format: 'pem' });

/** What the provider answers next. */
interface Next {
  readonly idToken: (claims: Claims) => string;
  readonly claims: Claims;
  readonly token?: (res: ServerResponse, body: string) => void;
  readonly userInfo?: Claims;
}
const usual: Next = {
  idToken: rs256(OWN.privateKey),
  claims: { email: 'kate@example.com', email_verified: true },
};

let provider: Server;
let issuer: string;
let service: TestService;
let next: Next = usual;
let nonce = '';

function answer(path: string, res: ServerResponse): void {
  const json = (value: object): void =>
    void res.setHeader('Content-Type', 'application/json').end(JSON.stringify(value));
  const now = Math.floor(Date.now() / 1000);
  const common = { iss: issuer, sub: 'person', aud: CLIENT.id, iat: now, exp: now + 600, nonce };
  switch (path) {
    case '/.well-known/openid-configuration':
      json({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/me`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      });
      break;
    case '/jwks':
      json({ keys: [{ ...OWN.publicKey.export({ format: 'jwk' }), kid: KID, use: 'sig', alg: 'RS256' }] });
      break;
    case '/token': {
      const body = {
        access_token: 'access',
        token_type: 'Bearer',
        id_token: next.idToken({ ...common, ...next.claims }),
      };
      if (next.token === undefined) json(body);
      else next.token(res.setHeader('Content-Type', 'application/json'), JSON.stringify(body));
      break;
    }
    default:
      json({ sub: 'person', ...next.userInfo });
  }
}

beforeAll(async () => {
  provider = createServer((req, res) => answer(new URL(req.url ?? '', issuer).pathname, res));
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const env = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret };
  service = await testService({ env: { ...BEHIND_PROXY, ...env } });
  await service.metadata.setMember(service.account, 'kate@example.com', 'owner');
});
afterAll(async () => {
  await service?.close();
  provider?.closeAllConnections();
  provider?.close();
});

let addresses = 0;
/** Signs in with what the provider answers. `cookie` is that of the browser's session, sent when it begins. */
async function attempt(what: Partial<Next> = {}, cookie?: string): Promise<Answer> {
  next = { ...usual, ...what };
  const from = { 'X-Forwarded-For': `10.2.0.${++addresses}` };
  const begun = await send(service.url, BEGIN, {
    headers: { ...from, ...(cookie === undefined ? {} : { Cookie: cookie }) },
  });
  expect(begun.status, begun.text).toBe(302);
  const { searchParams } = new URL(begun.headers['location'] ?? '');
  nonce = searchParams.get('nonce') ?? '';
  const query = new URLSearchParams({ code: 'code', state: searchParams.get('state') ?? '' });
  const headers = { ...from, Cookie: cookieOf(begun, 'analytics_sign_in') };
  return send(service.url, `${BEGIN}/callback?${query}`, { headers });
}

describe('an ID token', () => {
  test('signs in with the signature of the provider’s key', async () => {
    expect((await attempt()).status).toBe(200);
    expect((await attempt({ idToken: rs256(OWN.privateKey, undefined) })).status).toBe(200);
  });

  test.each<[string, Next['idToken']]>([
    ['no signature', (claims) => token({ alg: 'none' }, claims, () => Buffer.alloc(0))],
    ['no signature, and a key', (claims) => token({ alg: 'none', kid: KID }, claims, () => Buffer.alloc(0))],
    [
      'no signature where one is named',
      (claims) => token({ alg: 'RS256', kid: KID }, claims, () => Buffer.alloc(0)),
    ],
    ['a key that everybody knows', hs256(publicPem)],
    ['a key that everybody knows, by its name', hs256(publicPem, KID)],
    ['the key as a JWK', hs256(JSON.stringify(OWN.publicKey.export({ format: 'jwk' })), KID)],
    ['the client’s secret', hs256(CLIENT.secret)],
    ['a foreign key', rs256(FOREIGN.privateKey)],
    ['a foreign key under another name', rs256(FOREIGN.privateKey, 'other')],
    [
      'a foreign key that it brings along',
      (claims) =>
        token({ alg: 'RS256', jwk: FOREIGN.publicKey.export({ format: 'jwk' }) }, claims, (text) =>
          sign('RSA-SHA256', Buffer.from(text), FOREIGN.privateKey),
        ),
    ],
    [
      'the signature of other claims',
      (claims) => {
        const [head, , signature] = rs256(OWN.privateKey)({ ...claims, email: 'eve@example.com' }).split('.');
        return `${head}.${encoded(claims)}.${signature}`;
      },
    ],
  ])('does not sign in with %s', async (_, idToken) => {
    const refused = await attempt({ idToken });
    expectProblem(refused, 'forbidden');
    expect(cookieOf(refused)).toBe('');
  });
});

describe('an address', () => {
  test('is compared without case', async () => {
    const answer = await attempt({ claims: { email: 'Kate@Example.COM', email_verified: true } });
    const { json } = await personWith(service, cookieOf(answer)).ask('/session');
    expect(json).toMatchObject({ email: 'kate@example.com' });
  });

  const LOOKALIKES = [
    '\u212aate@example.com',
    'kate@example\uff0ecom',
    'kate@e\u0445ample.com',
    '\uff4bate@example.com',
  ];

  test.each(LOOKALIKES)('%s is not kate@example.com', async (email) => {
    const claims = { email, email_verified: true };
    expectProblem(await attempt({ claims }), 'forbidden');
    expectProblem(await attempt({ claims: {}, userInfo: claims }), 'forbidden');
    expect(Email.safeParse(email).success).toBe(false);
  });

  test('may come from the provider’s user info', async () => {
    const answer = await attempt({
      claims: {},
      userInfo: { email: 'kate@example.com', email_verified: true },
    });
    expect(answer.status).toBe(200);
  });
});

describe('an answer of the provider', () => {
  test('has a size', async () => {
    const sent: number[] = [];
    const endless = (res: ServerResponse): void => {
      const piece = `{"filler":"${'x'.repeat(64 * 1024)}`;
      const write = (): void => {
        while (sent.length < 10_000 && !res.destroyed) {
          sent.push(piece.length);
          if (!res.write(piece)) return void res.once('drain', write);
        }
      };
      write();
    };
    expectProblem(await attempt({ token: endless }), 'forbidden');
    expect(sent.length).toBeLessThan(1_000);
  });

  test('has a time', async () => {
    let drips: NodeJS.Timeout | undefined;
    const slow = (res: ServerResponse, body: string): void => {
      res.write(body.slice(0, 1));
      drips = setInterval(() => res.write(' '), 100);
      res.once('close', () => clearInterval(drips));
    };
    expectProblem(await attempt({ token: slow }), 'forbidden');
  }, 20_000);
});

describe('a new sign-in ends the browser’s previous session:', () => {
  test('by the provider', async () => {
    const before = await signIn(service, service.account);
    const answer = await attempt({}, before.cookie);
    expectProblem(await before.ask('/session'), 'unauthorized');
    expect((await personWith(service, cookieOf(answer)).ask('/session')).status).toBe(200);
  });

  test('by a link', async () => {
    const [before, elsewhere] = [
      await signIn(service, service.account),
      await signIn(service, service.account),
    ];
    const { token } = await service.metadata.createSignInLink(service.account, '');
    const headers = { 'X-Forwarded-For': '10.3.0.1' };
    const wrong = { method: 'POST', body: { token: 'x'.repeat(43) }, headers };
    expectProblem(await asPage(service, before.cookie, '/sign-in/link', wrong), 'unauthorized');
    expect((await before.ask('/session')).status).toBe(200);
    const answer = await asPage(service, before.cookie, '/sign-in/link', {
      method: 'POST',
      body: { token },
      headers,
    });
    expect(answer.status).toBe(200);
    expectProblem(await before.ask('/session'), 'unauthorized');
    expect((await personWith(service, cookieOf(answer)).ask('/session')).status).toBe(200);
    // Another browser stays signed in.
    expect((await elsewhere.ask('/session')).status).toBe(200);
    const ended = (await service.metadata.listAudit(service.account)).filter(
      ({ action }) => action === 'session.end',
    );
    expect(ended).toHaveLength(2);
  });
});
