/** A program that is killed again and again, and whose clients try again until they are answered. */
import { rm } from 'node:fs/promises';
import { newDirectory, type Qd, type RequestOptions, startQd } from '../../e2e/program.ts';

export interface Answer {
  readonly code: number;
  readonly body: any;
}

export class Survivor {
  readonly #directory: string;
  readonly #flags: readonly string[];
  #life: Promise<Qd>;

  private constructor(directory: string, flags: readonly string[]) {
    this.#directory = directory;
    this.#flags = flags;
    this.#life = startQd({ directory, flags });
  }

  static async start(flags: readonly string[]): Promise<Survivor> {
    const survivor = new Survivor(await newDirectory(), flags);
    await survivor.#life;
    return survivor;
  }

  /** Resolves when it is up again. */
  async killed(): Promise<void> {
    const qd = await this.#life;
    this.#life = qd.stop('SIGKILL').then(() => startQd({ directory: this.#directory, flags: this.#flags }));
    await this.#life;
  }

  /**
   * Returns the answer of the first life that gives one. A request that was cut off may have been carried out or not:
   * it must have the same effect when it is sent twice.
   */
  async request(method: string, path: string, options?: RequestOptions): Promise<Answer> {
    for (;;) {
      const life = this.#life;
      const qd = await life;
      try {
        const answer = await qd.request(method, path, options);
        // It is on its way up, or down.
        if (answer.code !== 503 && answer.code !== 429) return answer;
      } catch (error) {
        if (this.#life === life && qd.child.exitCode === null && qd.child.signalCode === null) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async list(path: string): Promise<any[]> {
    const { code, body } = await this.request('GET', path);
    if (code !== 200) throw new Error(`GET ${path}: ${JSON.stringify(body)}`);
    return body.items;
  }

  async end(): Promise<void> {
    const qd = await this.#life;
    await qd.stop('SIGKILL');
    await rm(this.#directory, { recursive: true, force: true });
  }
}
