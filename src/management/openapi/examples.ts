/* The things that the examples of several resources show. */

export const ACCOUNT = '2f1f9d5e-6a6c-4c39-8a5b-1f0f1f6f7a10';
export const KEY = '7c9a1c7e-0d1b-4a53-9b0c-55f3a1f0b8d2';
export const APP = '6f1c2a34-9b1e-4c52-8f0e-2d6f5c1b7a90';
export const AT = '2026-11-20T12:00:00.000Z';
export const account = { accountId: ACCOUNT, name: 'Acme', plan: 'free', createdAt: AT };
export const key = {
  keyId: KEY,
  name: 'reports',
  prefix: 'service_api_AbCd',
  state: 'active',
  createdAt: AT,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  replacedBy: null,
};
export const app = { id: APP, name: 'Shop', domain: 'https://shop.example', createdAt: AT };
export const share = {
  appId: APP,
  appName: 'Shop',
  domain: 'https://shop.example',
  ownerId: ACCOUNT,
  ownerName: 'Acme',
  accountId: KEY,
  accountName: 'Partner',
};
export const member = { accountId: ACCOUNT, email: 'ada@example.com', role: 'owner' };
export const entry = {
  accountId: ACCOUNT,
  at: AT,
  actor: 'operator',
  action: 'key.create',
  subject: KEY,
  details: { name: 'reports' },
  outcome: 'done',
};

export const backup = {
  id: KEY,
  path: '/var/backups/analytics',
  state: 'made',
  error: null,
  madeAt: AT,
  tables: 20,
  rows: 120_000,
  bytes: 4_000_000,
  seconds: 2.5,
  pauseMs: 40,
};
