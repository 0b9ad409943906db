import { testTwoSealers } from '../support/two-sealers.ts';

// `npm run test:long` stops the first sealer before every eighth write.
testTwoSealers({ modes: 'in turn', every: 13 });
