import { testTwoSealers } from '../support/two-sealers.ts';

testTwoSealers(
  process.env['SEALING_MODES'] === 'all' ? { modes: 'all', every: 1 } : { modes: 'in turn', every: 8 },
);
