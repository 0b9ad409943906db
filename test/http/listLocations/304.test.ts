import { answers304 } from '../cases.ts';

answers304('listLocations');
