import { Deadline, type Deadlines } from '../deadlines.ts';
import { HttpError } from '../errors.ts';

/** Waits for a body that is being read, up to the timeout for bodies. Rejects with 408 after that. */
export function timelyBody(reading: Promise<Buffer>, deadlines: Deadlines, onTimeout: () => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const deadline = new BodyDeadline(() => {
      onTimeout();
      reject(new HttpError(408, 'the body of the request did not arrive in time'));
    });
    deadlines.set(deadline);
    const settle = () => deadlines.clear(deadline);
    reading.then(resolve, reject).then(settle, settle);
  });
}

class BodyDeadline extends Deadline {
  constructor(override readonly expire: () => void) {
    super();
  }
}
