import type { Entry, Language } from '../findings.ts'
import { cHarness } from './c.ts'
import { goHarness } from './go.ts'
import { javaHarness } from './java.ts'
import { nodeHarness } from './node.ts'
import { pythonHarness } from './python.ts'
import { rubyHarness } from './ruby.ts'
import { rustHarness } from './rust.ts'
import { shellHarness } from './shell.ts'

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

export interface SkeletonOf {
  name: string
  entry: Entry | null
  interpreter: string
}

/** Every harness prints these two. */
export const SKELETON_METRIC = 'milliseconds'
export const SKELETON_OUTPUT = 'output_bytes'

export function skeleton(language: Language, wanted: SkeletonOf): Skeleton {
  switch (language) {
    case 'node':
      return nodeHarness(wanted)
    case 'python':
      return pythonHarness(wanted)
    case 'go':
      return goHarness(wanted)
    case 'rust':
      return rustHarness(wanted)
    case 'java':
      return javaHarness(wanted)
    case 'ruby':
      return rubyHarness(wanted)
    case 'c':
      return cHarness(wanted)
    case 'shell':
      return shellHarness(wanted)
    default:
      return language satisfies never
  }
}
