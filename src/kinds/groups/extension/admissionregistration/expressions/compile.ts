import type { Environment } from '../../../../../cel/environment.ts';
import { CompileError, compile, type Program } from '../../../../../cel/program.ts';
import { sameType, type Type } from '../../../../../cel/types/type.ts';

/** Expression that can be evaluated, or the error in it. */
export type Compiled =
  | { readonly text: string; readonly program: Program; readonly error?: undefined; readonly issues?: undefined }
  | {
      readonly text: string;
      readonly program?: undefined;
      readonly error: string;
      /** Problems that the compiler found; undefined when only the type of the result is wrong. */
      readonly issues: string | undefined;
    };

/** Compiles an expression. Its type must be one of `results`; without them it may be any. */
export function compileExpression(environment: Environment, text: string, results?: readonly Type[]): Compiled {
  let program: Program;
  try {
    program = compile(text, environment);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    return { text, error: `compilation failed: ${error.message}`, issues: error.message };
  }
  const { resultType } = program;
  if (!results || results.some((type) => sameType(type, resultType))) return { text, program };
  const names = results.map(declaredName);
  const wanted = names.length === 1 ? names[0] : `one of [${names.join(' ')}]`;
  return { text, error: `must evaluate to ${wanted} but got ${declaredName(resultType)}`, issues: undefined };
}

/** The name by which Kubernetes shows the type of a result: not always that of the compiler's own messages. */
function declaredName(type: Type): string {
  return type.parameters.length === 0 ? type.name : type.toString();
}
