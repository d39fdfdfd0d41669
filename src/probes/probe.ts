import type { ProbeLabel, ProbeName } from '../model/probe.ts'

export interface SourceFile {
  path: string
  content: string
}

export interface ProbeChange {
  path: string
  /** Null removes the file. */
  content: string | null
}

/** A small hostile change, measured like an idea. An idea that did the same must not be kept. */
export interface Probe {
  name: ProbeName
  label: ProbeLabel
  changes: ProbeChange[]
}
