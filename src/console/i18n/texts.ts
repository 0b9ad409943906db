import type { texts } from './en/texts.ts';

/** Every text of the console, in sections. English has the shape that all languages have. */
export type Texts = typeof texts;
