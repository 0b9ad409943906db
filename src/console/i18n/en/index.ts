import type { Language } from '../languages.ts';
import { texts } from './texts.ts';

export const language: Language = { direction: 'ltr', locale: 'en-GB', texts };
