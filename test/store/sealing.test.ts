import { oracleStore } from '../support/oracle/store.ts';
import { testSealing } from '../support/sealing.ts';

// `npm run test:long` asks for 120.
testSealing(oracleStore(), 40);
