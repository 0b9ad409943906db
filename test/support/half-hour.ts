const HALF_HOUR = 1_800_000;

/** Changes whenever an hour or a day begins, in UTC or Tehran. */
export const halfHour = (at = Date.now()): number => Math.floor(at / HALF_HOUR);

/**
 * Runs `check` about questions whose window follows the clock. If it fails while an hour ended, it runs once
 * more.
 */
export async function withinHalfHour(check: () => Promise<void>): Promise<void> {
  const begun = halfHour();
  try {
    await check();
  } catch (error) {
    if (halfHour() === begun) throw error;
    await check();
  }
}
