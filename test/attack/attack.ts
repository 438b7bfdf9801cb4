/** Contract of an attack, and its context. */
import type { Dice } from '../crash/random.ts';
import type { HttpClient } from './client.ts';
import type { Target } from './target.ts';

export interface AttackContext {
  readonly target: Target;
  /** Cluster administrator: exempt from flow control. */
  readonly admin: HttpClient;
  /** Client with the role `admin` in the namespace `tenant`, and no other. */
  readonly tenant: HttpClient;
  /** An authenticated user without any rights. */
  readonly nobody: HttpClient;
  readonly dice: Dice;
  /** Number of requests that the attack may send; the listed attacks send a fixed number. */
  readonly requests: number;
}

export interface Attack {
  readonly name: string;
  run(context: AttackContext): Promise<void>;
}
