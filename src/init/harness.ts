import { buildCHarness } from './c.ts'
import { buildGoHarness } from './go.ts'
import { buildJavaHarness } from './java.ts'
import { buildNodeHarness } from './node.ts'
import type { EntryPoint, Language } from './project.ts'
import { buildPythonHarness } from './python.ts'
import { buildRubyHarness } from './ruby.ts'
import { buildRustHarness } from './rust.ts'
import { buildShellHarness } from './shell.ts'

export interface NewFile {
  /** Relative to the project's directory. */
  path: string
  text: string
}

/** A generated harness. It runs as it is, and marks where a person puts the workload. */
export interface Skeleton {
  files: NewFile[]
  edit: string
  command: string
  /** Runs after the project's own setup. */
  build: string | null
  calls: string
  /** `build` also builds the project, so the setup does not have to. */
  buildsProject?: boolean
}

export interface SkeletonRequest {
  name: string
  entry: EntryPoint | null
  interpreter: string
}

/** All generated harnesses print these two metrics. */
export const SKELETON_METRIC = 'milliseconds'
export const SKELETON_OUTPUT = 'output_bytes'

export function buildSkeleton(language: Language, wanted: SkeletonRequest): Skeleton {
  switch (language) {
    case 'node':
      return buildNodeHarness(wanted)
    case 'python':
      return buildPythonHarness(wanted)
    case 'go':
      return buildGoHarness(wanted)
    case 'rust':
      return buildRustHarness(wanted)
    case 'java':
      return buildJavaHarness(wanted)
    case 'ruby':
      return buildRubyHarness(wanted)
    case 'c':
      return buildCHarness(wanted)
    case 'shell':
      return buildShellHarness(wanted)
    default:
      return language satisfies never
  }
}
