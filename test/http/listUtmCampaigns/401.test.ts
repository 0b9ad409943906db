import { answers401 } from '../cases.ts';

answers401('listUtmCampaigns');
