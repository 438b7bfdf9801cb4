import { RuntimeError } from '../../runtime/errors.ts';
import { pauseForArm64 } from './arm64.ts';
import { ELF_MACHINES, elfProgram } from './elf.ts';
import { pauseForX64 } from './x64.ts';

/** The pause program as an executable file. `architecture` is Node's name for it. */
export function pauseProgram(architecture: string): Buffer {
  switch (architecture) {
    case 'x64':
      return elfProgram(ELF_MACHINES.x64, pauseForX64());
    case 'arm64':
      return elfProgram(ELF_MACHINES.arm64, pauseForArm64());
    default:
      throw new RuntimeError('Unsupported', `there is no pause program for ${architecture}`);
  }
}
