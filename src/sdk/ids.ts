/** A random UUID (version 4). `crypto.randomUUID` exists only on https pages. */
export const newId = (): string =>
  'xxxxxxxx-xxxx-4xxx-axxx-xxxxxxxxxxxx'.replace(/x/g, () =>
    ((crypto.getRandomValues(new Uint8Array(1))[0] as number) & 15).toString(16),
  );
