import { oracleStore } from '../support/oracle/store.ts';
import { testSealing } from '../support/sealing.ts';

/** Of all ranges; the rest is in `sealing-b`, so that two workers share them. `npm run test:exact` asks for 100,000. */
const SHARE = 0.7;

testSealing(oracleStore(), Number(process.env['SEALING_RANGES'] ?? 300) * SHARE);
