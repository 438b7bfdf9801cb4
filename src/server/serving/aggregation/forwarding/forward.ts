/** Forwards the request of a component in this process to the server behind an APIService. */
import { Readable } from 'node:stream';
import { ApiError } from '../../../../api/errors.ts';
import type { User } from '../../../../api/user.ts';
import type { ForwardedAnswer } from '../../../outbound/services/send.ts';
import type { ForwardedRequest, ForwardedResponse } from '../../backend.ts';
import { checkPath, problemOf, send, unreachableMessage } from './send.ts';
import type { Transport } from './transport.ts';

/** The error for a request to an unavailable server, with the message of Kubernetes. */
export const unavailable = () =>
  new ApiError('ServiceUnavailable', 'the server is currently unable to handle the request');

export async function forward(
  { user, method, url, headers, body, signal }: ForwardedRequest & { readonly user: User },
  transport: Transport,
): Promise<ForwardedResponse> {
  checkPath(url.split('?', 1)[0]!);
  const client = {
    method,
    headers,
    signal,
    address: '',
    hasBody: body !== undefined,
    body: () => Readable.from([body]),
  };
  let answer: ForwardedAnswer;
  try {
    answer = await send(client, { path: url, headers: transport.userHeaders(user) }, transport);
  } catch (error) {
    throw new ApiError('ServiceUnavailable', unreachableMessage(error), { cause: error });
  }
  const problem = problemOf(answer, false);
  if (problem === undefined) return answer.response;
  answer.request.destroy();
  throw new ApiError('ServiceUnavailable', problem);
}
