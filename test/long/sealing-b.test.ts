import { oracleStore } from '../support/oracle/store.ts';
import { testSealing, testWeeksOfSealing } from '../support/sealing.ts';

/** Of all ranges, one half: two workers share them. `npm run test:exact` asks for 100,000. */
const RANGES = Number(process.env['SEALING_RANGES'] ?? 1_000) / 2;

const on = oracleStore();

testSealing(on, RANGES);
testWeeksOfSealing(on, 4);
