/** A batch by the two ids that make it one. */
export interface BatchKey {
  readonly app: string;
  readonly batch: string;
}

export const batchKey = ({ app, batch }: BatchKey): string => `${app}:${batch}`;
