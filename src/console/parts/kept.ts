/*
 * What the browser keeps for a person. In a frame of another site it may keep nothing, and says so with an error: then
 * nothing is kept.
 */

interface Place {
  readonly get: (key: string) => string | null;
  readonly set: (key: string, value: string) => void;
}

/** `storage`: asked each time, because the look at it can fail, too. */
const placeIn = (storage: () => Storage): Place => ({
  get: (key) => {
    try {
      return storage().getItem(key);
    } catch {
      return null;
    }
  },
  set: (key, value) => {
    try {
      storage().setItem(key, value);
    } catch {
      // It lasts as long as the page.
    }
  },
});

export const { get: kept, set: keep } = placeIn(() => localStorage);
/** The same for this tab alone. */
export const { get: keptInTab, set: keepInTab } = placeIn(() => sessionStorage);
