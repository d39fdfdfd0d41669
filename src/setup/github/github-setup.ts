import { UserError } from '../../errors.ts'
import { isJudgedMetric } from '../../spec/judged.ts'
import type { Spec } from '../../spec/schema.ts'

/** The values from which the workflow of a repository is written. */
export interface GithubSetup {
  /** `owner/repository@commit`, with its version as a comment where it is known; or OWN_ACTION. */
  action: string
  specs: readonly WorkflowCampaign[]
}

/** The part of a spec on which the workflow depends. */
export type WorkflowCampaign = Pick<
  Spec,
  'name' | 'schedule' | 'propose' | 'execution' | 'branches' | 'measurement' | 'metric'
>

/** Every job reads it, directly or through the job that it needs: the variable stops everything without a commit. */
export const NOT_PAUSED = "(vars.WINNOW_PAUSED == '' || vars.WINNOW_PAUSED == 'false')"

/** Quotes text as a YAML value, whatever is in it. */
export function quoteYaml(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}

/** Whether a job has to ask programs for ideas. */
export function hasProgramProposers({ specs }: Pick<GithubSetup, 'specs'>): boolean {
  return specs.some(({ propose }) => propose.some(({ use }) => use === 'command'))
}

/** Whether a job has to ask models for scores. */
export function hasJudges({ specs }: Pick<GithubSetup, 'specs'>): boolean {
  return specs.some(isJudgedMetric)
}

/** Lists the prefixes of the branches that campaigns write to, each once. */
export function listPrefixes({ specs }: Pick<GithubSetup, 'specs'>): string[] {
  return [...new Set(specs.map(({ branches }) => branches.prefix))].toSorted()
}

/** Refuses expressions: the workflow carries these values as they are, and an expression there could name a secret. */
export function requirePlainExecution({ name, execution }: WorkflowCampaign): WorkflowCampaign['execution'] {
  const { runs_on, services } = execution
  for (const [key, value] of Object.entries({ runs_on, services })) {
    if (!JSON.stringify(value).includes('${{')) continue
    throw new UserError(`execution.${key} of ${name} holds an expression of GitHub`, {
      place: { path: `execution.${key}` },
      fix: 'write plain values: a job that runs experiments must not get values that only the workflow knows',
    })
  }
  return execution
}
