import type { Spec } from '../spec/schema.ts'
import type { ProjectFiles } from './project-files.ts'

export const LANGUAGES = ['node', 'python', 'go', 'rust', 'java', 'ruby', 'c', 'shell'] as const
export type Language = (typeof LANGUAGES)[number]

export type OutputFormat = Spec['measurement']['output']

export interface FoundCommand {
  command: string
  /** Where it was found, for people: `scripts.bench of package.json`. */
  from: string
}

/** A number that a benchmark is known to print, read from its source. */
export interface PrintedMetric {
  name: string
  direction: 'minimize' | 'maximize'
}

export interface FoundBenchmark extends FoundCommand {
  output: OutputFormat
  /** Null: winnow times the command itself. */
  metric: PrintedMetric | null
  /** The benchmark prints outputs that judges can score. */
  printsItems?: true
}

/** What a harness can call without knowing the project. */
export type EntryPoint =
  | { kind: 'module'; path: string }
  | { kind: 'function'; module: string; name: string }
  | { kind: 'program'; command: string }

/** All that was found in one directory for one language; paths are relative to that directory. */
export interface Findings {
  language: Language
  /** npm, uv, cargo, …; null where nothing is installed. */
  manager: string | null
  setup: FoundCommand | null
  test: FoundCommand | null
  bench: FoundBenchmark | null
  /** What a campaign may change. */
  mutable: string[]
  /** Tests that lie among the sources. */
  immutable: string[]
  entry: EntryPoint | null
  /** The file that people download, and the command that makes it; where it is not committed, the set-up has that. */
  product?: { path: string; build: string }
  /** The command that starts a script of this language. */
  interpreter: string
  /** Source files, to tell the main language of several. */
  weight: number
  notes: string[]
}

/** Where a project lies in its repository. */
export interface ProjectLocation {
  /** Seen from the project's directory. */
  files: ProjectFiles
  /** Seen from the top of the repository. */
  repository: ProjectFiles
  /** The project's directory; '' is the top. */
  directory: string
}
