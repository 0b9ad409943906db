import type { Data } from '../../client/index.ts';
import { type Loaded, useLoaded } from '../answers.ts';
import { client } from '../api.ts';

export type App = Data<'listApps'>[number];

/** The apps that the account owns or sees. */
export const useApps = (): Loaded<readonly App[]> =>
  useLoaded('listApps', async (signal) => (await client.listApps({}, { signal })).data);

export const analyticsOf = ({ id }: Pick<App, 'id'>): string => `/dashboard/apps/${id}`;
export const settingsOf = ({ id }: Pick<App, 'id'>): string => `/dashboard/apps/${id}/settings`;

/** The secrets that were made since the page was loaded. The service shows each of them once. */
const secrets = new Map<string, string>();
export const keepSecret = (appId: string, secret: string): void => void secrets.set(appId, secret);
export const keptSecret = (appId: string): string | null => secrets.get(appId) ?? null;
