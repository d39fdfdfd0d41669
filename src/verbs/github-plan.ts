import { asksJudges, asksPrograms } from '../setup/github/github-setup.ts'
import type { NewFile } from '../setup/harness/skeleton.ts'
import type { FoundSpec } from './github-sources.ts'

/** What `init --github` has to write. */
export interface Plan {
  specs: FoundSpec[]
  /** New, or in place of what winnow wrote earlier. */
  files: NewFile[]
  /** The `uses:` of winnow in the workflow. */
  action: string
  singleJob: boolean
  /** The workflow was there before. */
  existed: boolean
}

export interface OpenedPull {
  url: string
  branch: string
  files: string[]
  /** False: it was open before. */
  opened: boolean
}

export function needsModelKey({ specs }: Pick<Plan, 'specs'>): boolean {
  const setup = { specs: specs.map(({ spec }) => spec) }
  return asksPrograms(setup) || asksJudges(setup)
}
