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

/** A harness where the project has none: it runs as it is, and says where the person's workload belongs. */
export interface Skeleton {
  files: NewFile[]
  /** Where the workload is to be put. */
  edit: string
  command: string
  /** What has to be built first, after the project's own set-up. */
  build: string | null
  /** What it calls until the person says what to measure. */
  calls: string
  /** Its own build makes the project as well: the set-up need not. */
  buildsProject?: boolean
}

export interface SkeletonRequest {
  name: string
  entry: EntryPoint | null
  interpreter: string
}

/** Every harness prints these two. */
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
