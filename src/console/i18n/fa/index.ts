import type { Language } from '../languages.ts';
import { account } from './account.ts';
import { analytics } from './analytics.ts';
import { apps } from './apps.ts';
import { common } from './common.ts';

export const language: Language = {
  direction: 'rtl',
  locale: 'fa-IR-u-ca-persian-nu-arabext',
  texts: { ...common, ...account, apps, analytics },
};
