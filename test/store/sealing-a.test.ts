import { testSealing } from './sealing-support.ts';

testSealing(3);
