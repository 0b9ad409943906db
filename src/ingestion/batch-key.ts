/** The two ids that identify a batch. */
export interface BatchKey {
  readonly app: string;
  readonly batch: string;
}

export const batchKey = ({ app, batch }: BatchKey): string => `${app}:${batch}`;
