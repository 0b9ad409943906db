import { account } from './account.ts';
import { analytics } from './analytics.ts';
import { apps } from './apps.ts';
import { common } from './common.ts';

export const texts = { ...common, ...account, apps, analytics };
