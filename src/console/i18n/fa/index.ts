import type { Language } from '../languages.ts';
import { analytics } from './analytics.ts';
import { common } from './common.ts';

export const language: Language = {
  name: 'فارسی',
  direction: 'rtl',
  locale: 'fa-IR-u-ca-persian-nu-arabext',
  texts: { ...common, analytics },
};
