import { allKinds } from '../../src/kinds/all.ts';
import { takesProportionalTime } from './doubling.ts';

takesProportionalTime(allKinds.filter(({ group }) => group !== ''));
