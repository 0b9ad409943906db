/** Returns a promise that `resolve` fulfils, for tests that order steps. */
export function deferred() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
