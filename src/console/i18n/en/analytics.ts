/** The pages about an app's figures. */
export const analytics = {
  title: 'Analytics',
};
