import type { Seed } from '../../src/testing/types.ts';

/** Two accounts; the figures of the shop can be counted by hand. */
export const SEED: Seed = {
  accounts: [
    {
      name: 'Acme',
      keys: [{ name: 'reports' }, { name: 'old', revoked: true }],
      apps: [
        {
          name: 'Shop',
          domain: 'https://shop.example',
          sharedWith: ['Partner'],
          sessions: [
            {
              startedAt: '2026-11-18T10:00:00Z',
              visitorId: 'v1',
              context: { utm: { source: 'news' } },
              events: [
                { type: 'pageview', path: '/' },
                { type: 'pageview', path: '/pricing', timestamp: '2026-11-18T10:00:20Z' },
              ],
            },
            { startedAt: new Date('2026-11-19T22:00:00Z'), events: [{ type: 'pageview', path: '/' }] },
          ],
        },
        { name: 'Blog' },
      ],
    },
    { name: 'Partner', plan: 'free' },
    { name: 'Late', plan: 'suspended', apps: [{ name: 'Old shop' }] },
  ],
};
