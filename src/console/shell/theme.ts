import { createTheme } from '@mantine/core';

/** Without values: colours and sizes are the variables of console.css. */
export const THEME = createTheme({ respectReducedMotion: true });
