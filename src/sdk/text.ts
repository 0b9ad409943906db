/** A character that is seen. The service takes no name without one. */
export const SEEN = /[^\s\p{C}\p{DI}\u2800]/u;
