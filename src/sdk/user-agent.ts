/**
 * Returns the user agent of the device, if the browser's own hides it. An iPad or iPhone that asks for desktop pages says that it
 * is a Mac, and no Mac has a touch screen. Client hints tell nothing more: a browser that hides the device in its user agent hides
 * it there, too.
 */
export function trueUserAgent(): string | undefined {
  const { maxTouchPoints, userAgent } = navigator;
  return maxTouchPoints > 1 && /Macintosh/.test(userAgent)
    ? userAgent.replace('Macintosh', screen.width < 600 ? 'iPhone' : 'iPad')
    : undefined;
}
