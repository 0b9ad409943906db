import { oracleStore } from '../support/oracle/store.ts';
import { testSealing } from '../support/sealing.ts';

/**
 * Share of all ranges; `sealing-b` has the rest, so that two workers share the time. `npm run test:exact`
 * asks for 100,000.
 */
const SHARE = 0.7;

testSealing(oracleStore(), Number(process.env['SEALING_RANGES'] ?? 120) * SHARE);
