import { oracleStore } from '../support/oracle/store.ts';
import { testSealing } from '../support/sealing.ts';

// `npm run test:long` asks for 1,000.
testSealing(oracleStore(), 40);
