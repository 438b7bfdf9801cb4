/** The planners of endpoints for tests in which they do not have to yield. */
import { planEndpointSlices as dividedSlices } from '../../src/controllers/networking/endpoints/endpoint-slices.ts';
import { planEndpoints as dividedEndpoints } from '../../src/controllers/networking/endpoints/endpoints.ts';
import { planMirroring as dividedMirroring } from '../../src/controllers/networking/endpoints/mirroring.ts';
import { atOnce, NEVER_SPENT } from './divided-work.ts';

type View = Omit<Parameters<typeof dividedEndpoints>[1], 'pace'>;
const paced = (view: View) => ({ ...view, pace: NEVER_SPENT });

export const planEndpoints = (service: Parameters<typeof dividedEndpoints>[0], view: View) =>
  atOnce(dividedEndpoints(service, paced(view)));
export const planEndpointSlices = (service: Parameters<typeof dividedSlices>[0], view: View) =>
  atOnce(dividedSlices(service, paced(view)));
export const planMirroring = (endpoints: Parameters<typeof dividedMirroring>[0], view: View) =>
  atOnce(dividedMirroring(endpoints, paced(view)));
