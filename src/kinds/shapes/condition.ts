import { s } from '../../schema/builders.ts';

/** One aspect of an object's state, as newer kinds report it. */
export const Condition = s.object('Condition', {
  type: s.string({ zero: true }),
  status: s.string({ zero: true, description: 'True, False or Unknown.' }),
  observedGeneration: s.int64({ description: 'The generation of the object that this was said of.' }),
  lastTransitionTime: s.time(),
  reason: s.string({ zero: true, description: 'Why, in one CamelCase word.' }),
  message: s.string({ zero: true, description: 'Why, for people.' }),
});
