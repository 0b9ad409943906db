import { answers400 } from '../cases.ts';

answers400('getExtendedOverview');
