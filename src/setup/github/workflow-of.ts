import { UserError } from '../../errors.ts'
import type { Spec } from '../../spec/schema.ts'
import { isJudged } from '../../spec/judged.ts'
import { OWN_ACTION } from './reusable.ts'

/** What the workflows of a repository are written from. */
export interface GithubSetup {
  /** `owner/repository@commit`, with its version as a comment where it is known. */
  action: string
  specs: readonly Campaign[]
  /** Jobs that can be are calls of winnow's reusable workflows, at the commit of the action. */
  calls?: boolean
}

/** As much of a spec as workflows depend on. */
export type Campaign = Pick<
  Spec,
  'name' | 'schedule' | 'propose' | 'execution' | 'branches' | 'measurement' | 'metric'
>

const WHY = '# What each job may do, and why: docs/github.md of winnow.'
const YOURS =
  '# Written by `winnow init --github` and read by nobody but GitHub: change it as you like, or delete it to stop it.'

/** The first lines of a file: in winnow's own repository it is written anew with everything that is generated. */
export function headOf({ action }: Pick<GithubSetup, 'action'>): string {
  return [action === OWN_ACTION ? '# Written by `npm run docs`: change src/setup/github.' : YOURS, WHY].join(
    '\n',
  )
}

/** Read before anything else is done: a repository variable stops everything at once, without a commit. */
export const NOT_PAUSED = "(vars.WINNOW_PAUSED == '' || vars.WINNOW_PAUSED == 'false')"

/** Whoever writes to the ledger waits in one line, whatever woke it. The name is literal: it is one for all. */
export const ONE_AT_A_TIME = [
  '    concurrency:',
  '      group: winnow-tick',
  '      cancel-in-progress: false',
].join('\n')

/** Text as a YAML value in quotes, whatever is in it. */
export function yamlText(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}

/** Whether a job has to ask programs for ideas. */
export function asksPrograms({ specs }: Pick<GithubSetup, 'specs'>): boolean {
  return specs.some(({ propose }) => propose.some(({ use }) => use === 'command'))
}

/** Whether a job has to ask models for scores. */
export function asksJudges({ specs }: Pick<GithubSetup, 'specs'>): boolean {
  return specs.some(isJudged)
}

export function prefixesOf({ specs }: Pick<GithubSetup, 'specs'>): string[] {
  return [...new Set(specs.map(({ branches }) => branches.prefix))].toSorted()
}

/** What a spec says of its runner stands in the workflow as it is: an expression there could name a secret. */
export function plainExecution({ name, execution }: Campaign): Campaign['execution'] {
  const { runs_on, services } = execution
  for (const [key, value] of Object.entries({ runs_on, services })) {
    if (!JSON.stringify(value).includes('${{')) continue
    throw new UserError(`execution.${key} of ${name} holds an expression of GitHub`, {
      place: { path: `execution.${key}` },
      fix: 'write plain values: the job that runs experiments gets nothing that only the workflow knows',
    })
  }
  return execution
}
