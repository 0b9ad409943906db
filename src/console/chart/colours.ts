import { useComputedColorScheme } from '@mantine/core';

const LIGHT = {
  text: '#495057',
  axis: '#adb5bd',
  grid: '#e9ecef',
  surface: '#ffffff',
  /** The figure itself, and the one to compare it with. */
  first: '#1971c2',
  second: '#868e96',
  bad: '#c92a2a',
  /** From nothing to much, for heatmaps and maps. */
  scale: ['#f1f3f5', '#a5d8ff', '#4dabf7', '#1971c2', '#0b4a86'],
};

const DARK: typeof LIGHT = {
  text: '#c9c9c9',
  axis: '#696969',
  grid: '#3b3b3b',
  surface: '#242424',
  first: '#4dabf7',
  second: '#828282',
  bad: '#ff8787',
  scale: ['#2e2e2e', '#0b4a86', '#1971c2', '#4dabf7', '#d0ebff'],
};

export type Colours = typeof LIGHT;

/** The colours of charts in the present scheme. */
export const useColours = (): Colours => (useComputedColorScheme('light') === 'dark' ? DARK : LIGHT);
