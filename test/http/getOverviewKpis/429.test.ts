import { answers429 } from '../cases.ts';

answers429('getOverviewKpis');
