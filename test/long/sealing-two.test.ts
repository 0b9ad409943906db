import { testTwoSealers } from '../support/two-sealers.ts';

testTwoSealers({ modes: process.env['SEALING_MODES'] === 'all' ? 'all' : 'in turn', every: 1 });
