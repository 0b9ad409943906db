/** The version of the package. A release writes it, and a test compares it with package.json. */
export const VERSION = '0.1.0';
