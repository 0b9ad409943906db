import { oracleStore } from '../support/oracle/store.ts';
import { testSealing, testWeeksOfSealing } from '../support/sealing.ts';

/** Share of all ranges; `sealing-a` has the rest. */
const SHARE = 0.3;

const on = oracleStore();

testSealing(on, Number(process.env['SEALING_RANGES'] ?? 120) * SHARE);
testWeeksOfSealing(on);
