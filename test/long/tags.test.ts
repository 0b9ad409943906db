import { oracleStore } from '../support/oracle/store.ts';
import { testTags } from '../support/tags.ts';

testTags(oracleStore(), Number(process.env['TAG_CASES'] ?? 6));
