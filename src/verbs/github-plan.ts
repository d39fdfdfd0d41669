import { hasJudges, hasProgramProposers } from '../setup/github/github-setup.ts'
import type { NewFile } from '../setup/harness/skeleton.ts'
import type { FoundSpec } from './github-sources.ts'

/** What `init --github` has to write. */
export interface GithubSetupPlan {
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

export function isModelKeyNeeded({ specs }: Pick<GithubSetupPlan, 'specs'>): boolean {
  const setup = { specs: specs.map(({ spec }) => spec) }
  return hasProgramProposers(setup) || hasJudges(setup)
}
