import type { SealerDeps } from '../facts/sealer.ts';
import type { SealedStretch } from './metrics.ts';

/** Passes on the sealer's lines, and tells `onStretch` of each stretch: the sealer tells of them in its log only. */
export function watchedSealing(
  log: SealerDeps['log'],
  onStretch: (stretch: SealedStretch) => void,
): SealerDeps['log'] {
  return {
    info: (fields, message) => {
      if (message === 'sealed') onStretch(stretchOf(fields));
      log.info(fields, message);
    },
    warn: (fields, message) => log.warn(fields, message),
  };
}

function stretchOf(fields: object): SealedStretch {
  const { kind, repair, events, ms } = { ...fields } as Readonly<Record<string, unknown>>;
  return { kind: String(kind), isRepair: repair === true, events: Number(events), ms: Number(ms) };
}
