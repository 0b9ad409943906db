import type { Texts } from '../texts.ts';

export const analytics: Texts['analytics'] = {
  title: 'تحلیل‌ها',
};
