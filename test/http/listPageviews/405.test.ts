import { answers405 } from '../cases.ts';

answers405('listPageviews');
