import type { AnalyticsTexts } from '../texts.ts';

export const analytics: AnalyticsTexts = {
  title: 'تحلیل‌ها',
};
