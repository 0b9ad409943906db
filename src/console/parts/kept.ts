/*
 * What the browser keeps for a person. In a frame of another site it may keep nothing, and says so with an error: then
 * nothing is kept.
 */

export function kept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The choice lasts as long as the page.
  }
}

/** The same for this tab alone. */
export function keptInTab(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keepInTab(key: string, value: string): void {
  try {
    sessionStorage.setItem(key, value);
  } catch {
    // It is in memory.
  }
}
