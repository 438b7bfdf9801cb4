/**
 * Matches an expression against a long text in parts, so that other work can run in between. Uses the automaton inside
 * re2js, which is undocumented; tested with re2js 2.10.
 */
import type { RE2JS } from 're2js';
import type { DividedWork, Pace } from '../event-loop/in-turns.ts';

interface State {
  readonly isMatch: boolean;
  /** The next state by character class; null when it is not known yet. */
  readonly next: readonly (State | null)[] | null;
}

/** Records where the automaton last dropped its states because they took too much memory. */
interface Search {
  resetPos: number;
}

interface Automaton {
  readonly numClasses: number;
  readonly latin1Class: Int32Array;
  memBudget: number;
  stateBudget: number;
  runeClass(rune: number): number;
  start(input: { context(position: number): number }, position: number): State | null;
  /** Returns null when it would need too many states. */
  stepOrReset(
    state: State,
    characterClass: number,
    rune: number,
    anchor: number,
    position: number,
    search: Search,
  ): State | null;
}

const BEGIN_TEXT = 4;
const END_TEXT = -1;
const UNANCHORED = 0;
const MAX_LATIN1 = 0xff;
/** Memory limit of the automaton. */
const MAX_AUTOMATON_BYTES = 1024 * 1024;
/** Limit for creating states, each of which takes as many steps as the expression has instructions: some 100 ms. */
const MAX_STATE_STEPS = 1_000_000;
/** Steps between checks of the pace: about a millisecond. */
const STEPS_PER_PART = 20_000;

/** The result; `too long` when deciding would take too long. */
export type LongMatchResult = boolean | 'too long';

export class LongMatch {
  readonly #automaton: Automaton;
  readonly #instructions: number;
  readonly #text: string;
  readonly #search: Search = { resetPos: -1 };
  #state: State | null;
  #position = 0;
  #stateSteps = 0;

  /** `expression` must be compiled for this match: its automaton keeps its states. */
  constructor(expression: RE2JS, text: string) {
    const { dfa } = expression.re2() as unknown as { readonly dfa: Automaton };
    dfa.memBudget = MAX_AUTOMATON_BYTES;
    dfa.stateBudget = MAX_AUTOMATON_BYTES;
    this.#automaton = dfa;
    this.#instructions = expression.programSize();
    this.#text = text;
    this.#state = dfa.start({ context: () => BEGIN_TEXT }, 0);
  }

  /** Decides the match. Yields when the pace is spent. */
  *decide(pace?: Pace): DividedWork<LongMatchResult> {
    for (;;) {
      const result = this.#part();
      if (result !== undefined) return result;
      if (pace?.isSpent()) yield;
    }
  }

  #part(): LongMatchResult | undefined {
    const text = this.#text;
    const { latin1Class } = this.#automaton;
    let state = this.#state;
    let position = this.#position;
    let left = STEPS_PER_PART;
    while (state && position < text.length && left > 0) {
      const code = text.charCodeAt(position);
      const rune: number = code <= MAX_LATIN1 ? code : text.codePointAt(position)!;
      const characterClass: number = code <= MAX_LATIN1 ? latin1Class[code]! : this.#automaton.runeClass(rune);
      const known: State | null | undefined = state.next?.[characterClass];
      left--;
      if (known) state = known;
      else {
        left -= this.#instructions;
        state = this.#makeState(state, characterClass, rune, position);
      }
      if (state?.isMatch) return true;
      position += rune > 0xffff ? 2 : 1;
    }
    if (state && position === text.length)
      state = this.#makeState(state, this.#automaton.numClasses, END_TEXT, position);
    else if (state) {
      this.#state = state;
      this.#position = position;
      return undefined;
    }
    return state ? state.isMatch : 'too long';
  }

  #makeState(state: State, characterClass: number, rune: number, position: number): State | null {
    this.#stateSteps += this.#instructions;
    if (this.#stateSteps > MAX_STATE_STEPS) return null;
    return this.#automaton.stepOrReset(state, characterClass, rune, UNANCHORED, position, this.#search);
  }
}
