import { answers403 } from '../cases.ts';

answers403('getOverviewKpis');
