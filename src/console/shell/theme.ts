import { createTheme, Modal } from '@mantine/core';

/** Without values: colours and sizes are the variables of mantine.css. */
export const THEME = createTheme({
  respectReducedMotion: true,
  components: {
    // Locking the scroll would need a style element, which the policy forbids.
    Modal: Modal.extend({ defaultProps: { lockScroll: false, centered: true } }),
  },
});
