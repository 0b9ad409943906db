import { analytics } from './analytics.ts';
import { common } from './common.ts';

export const texts = { ...common, analytics };
